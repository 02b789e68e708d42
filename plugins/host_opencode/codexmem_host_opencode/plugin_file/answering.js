// What this process of OpenCode 2 can tell by itself, for the time in which no service does: some routes of the
// service's own API on loopback, for those who know the token that stands in a file of the user's.

const BODY_BYTES = 64 * 1024 * 1024

/** Serve them. `routes`: (method, path below /api, body) → what is answered, undefined for an unknown one. */
function answering(routes) {
  const token = randomBytes(24).toString("base64url")
  const listener = createServer(async (request, response) => {
    const say = (status, body) => {
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify(body))
    }
    if (request.headers.authorization !== `Bearer ${token}`) return say(401, { message: "who asks?" })
    try {
      const chunks = []
      let bytes = 0
      for await (const chunk of request) {
        bytes += chunk.length
        if (bytes > BODY_BYTES) return say(413, { message: "too much" })
        chunks.push(chunk)
      }
      const body = bytes ? JSON.parse(Buffer.concat(chunks).toString("utf8")) : {}
      const path = new URL(request.url, "http://localhost").pathname.replace(/^\/api\//, "")
      const answer = await routes(request.method, path.split("/").map(decodeURIComponent), body)
      say(answer === undefined ? 404 : 200, answer ?? { message: "no such route" })
    } catch (error) {
      const status = error?.status ?? error?.cause?.status
      const missing = /notfound/i.test(`${error?._tag} ${error?.name}`)
      say(Number.isInteger(status) ? status : missing ? 404 : 503, { message: String(error?.message ?? error) })
    }
  })
  const listening = new Promise((resolve) => {
    listener.on("error", () => resolve(""))
    listener.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${listener.address().port}`))
  })
  listener.unref()
  return { listening, token, close: () => listener.close() }
}
