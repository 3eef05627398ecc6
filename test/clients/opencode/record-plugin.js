// The plugin that tests put into .opencode/plugin: appends every hook's input and output to FOLDER/records.jsonl and adds the texts
// that FOLDER/answers.json holds. Written for tests only. The folder comes from the environment.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const Recorder = async ({ directory, worktree, project, serverUrl }) => {
  const folder = process.env.HAVERSACK_TEST_FOLDER;
  const answers = () => JSON.parse(readFileSync(join(folder, "answers.json"), "utf8"));
  const record = (hook, input, output) =>
    appendFileSync(join(folder, "records.jsonl"), `${JSON.stringify({ hook, input, output })}\n`);
  record("plugin", { directory, worktree, project, serverUrl: String(serverUrl), versions: process.versions }, {});
  return {
    event: async (input) => record("event", input, {}),
    "chat.message": async (input, output) => {
      record("chat.message", input, output);
      const text = answers()["chat.message"];
      if (!text) return;
      const { id, sessionID, messageID } = output.parts.at(-1);
      // Parts stand in the order of their ids.
      output.parts.push({ id: `${id}h`, sessionID, messageID, type: "text", text, synthetic: true });
    },
    "chat.params": async (input, output) => record("chat.params", { ...input, provider: undefined }, output),
    "experimental.chat.system.transform": async (input, output) => {
      record("system.transform", input, { length: output.system.length });
      const text = answers()["system.transform"];
      if (text) output.system.push(text);
    },
    "command.execute.before": async (input, output) => record("command.execute.before", input, output),
    "permission.ask": async (input, output) => record("permission.ask", input, output),
    "tool.execute.before": async (input, output) => {
      record("tool.execute.before", input, output);
      const answer = answers()[`before:${input.tool}`];
      if (answer?.deny) throw new Error(answer.deny);
      if (answer?.args) Object.assign(output.args, answer.args);
    },
    "tool.execute.after": async (input, output) => {
      record("tool.execute.after", input, output);
      const text = answers()[`after:${input.tool}`];
      if (!text) return;
      if (typeof output.output === "string") output.output += text;
      else for (const part of output.content ?? []) if (part.type === "text") part.text += text;
    },
    "experimental.session.compacting": async (input, output) => {
      record("session.compacting", input, output);
      const text = answers()["session.compacting"];
      if (text) output.context.push(text);
    },
    "experimental.compaction.autocontinue": async (input, output) =>
      record("compaction.autocontinue", { ...input, provider: undefined }, output),
  };
};
