// Reads all rollouts of a folder with the transcript builder of opencode-codex-memory, for a comparison of whole processes.
// README.md tells how to bundle it with a checkout of that program; nothing of it is kept here.
import fs from "fs"
import path from "path"
import { setPluginInput } from "PEER/src/llm.ts"
import { buildTranscript } from "PEER/src/phase1.ts"

type Part = { text?: string }
const joined = (value: string | Part[] | undefined) =>
  typeof value === "string" ? value : (value ?? []).map((part) => part.text ?? "").filter(Boolean).join("\n")

// OpenCode's messages, made from the same records that our own reader keeps.
function messages(file: string): unknown[] {
  const out: unknown[] = []
  const calls = new Map<string, { name: string; input: unknown }>()
  for (const line of fs.readFileSync(file, "utf8").split("\n")) {
    let record: any
    try {
      record = JSON.parse(line)
    } catch {
      continue
    }
    if (record.type !== "response_item") continue
    const item = record.payload
    if (item.type === "message") {
      out.push({ info: { role: item.role }, parts: [{ type: "text", text: joined(item.content) }] })
    } else if (item.type === "function_call" || item.type === "custom_tool_call") {
      calls.set(item.call_id, { name: item.name, input: { cmd: item.arguments ?? item.input } })
    } else if (item.type === "function_call_output" || item.type === "custom_tool_call_output") {
      const call = calls.get(item.call_id)
      const state = { input: call?.input, output: joined(item.output) }
      out.push({ info: { role: "assistant" }, parts: [{ type: "tool", tool: call?.name, state }] })
    }
  }
  return out
}

let current: unknown[] = []
setPluginInput({ client: { session: { messages: async () => ({ data: current }) } } } as any)
let characters = 0
for (const name of fs.readdirSync(process.argv[2], { recursive: true }).map(String).sort()) {
  if (!name.endsWith(".jsonl")) continue
  current = messages(path.join(process.argv[2], name))
  characters += (await buildTranscript("session")).length
}
if (!characters) throw new Error("nothing was read")
console.log(characters)
