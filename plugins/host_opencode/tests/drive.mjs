// Plays OpenCode for the plugin file: calls its hooks as a scenario says, and prints what came of each.

import { readFileSync, renameSync, writeFileSync } from "node:fs"

const { file, host, steps } = JSON.parse(readFileSync(process.argv[2], "utf8"))
const never = new Promise(() => {})
const tells = (value) => (host.silent ? never : Promise.resolve({ data: value }))

const context = {
  directory: host.directory,
  worktree: host.directory,
  serverUrl: new URL(host.url),
  client: {
    session: { get: ({ path }) => tells(host.sessions[path.id]) },
    app: { agents: () => tells(host.agents) },
    mcp: { status: () => tells(host.servers) },
  },
}

const [plugin, ...others] = Object.values(await import(file))
const hooks = await plugin.server(context)
const results = []
for (const { hook, input, output, replace } of steps) {
  if (replace) {
    writeFileSync(`${replace.path}.new`, replace.content)
    renameSync(`${replace.path}.new`, replace.path)
    results.push(null)
    continue
  }
  try {
    await hooks[hook]?.(input, output)
    results.push({ output })
  } catch (error) {
    results.push({ threw: String(error) })
  }
}
console.log(JSON.stringify({ exports: 1 + others.length, hooks: Object.keys(hooks), results }))
