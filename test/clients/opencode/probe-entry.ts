/**
 * The plugin with the real engine parts behind it, for bun-store.test.ts: it shows that stores and matching run in the client's own
 * runtime, and writes down how long a prompt took. Bundled by the test; not the engine that the package ships.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../../packages/haversack/src/base/config.ts";
import { userStateFolder } from "../../../packages/haversack/src/base/project-trust.ts";
import type { PluginInput } from "../../../packages/haversack/src/clients/opencode/client-api.ts";
import { type HookEngine, haversackPlugin } from "../../../packages/haversack/src/clients/opencode/plugin.ts";
import { discover } from "../../../packages/haversack/src/engine/discover.ts";
import type { EventAnswer, EventBase, ToolCall } from "../../../packages/haversack/src/engine/events/client-event.ts";
import { eventProject } from "../../../packages/haversack/src/engine/events/event-project.ts";
import { recordTool } from "../../../packages/haversack/src/engine/events/record-tool.ts";
import { discoverSettings, projectPaths } from "../../../packages/haversack/src/engine/project.ts";
import { openForHook } from "../../../packages/haversack/src/store/sqlite/access.ts";
import { SqliteLocalStore } from "../../../packages/haversack/src/store/sqlite/sessions/sqlite-local-store.ts";
import { PromptLedger } from "../../../packages/haversack/src/store/sqlite/skills/prompt-ledger.ts";
import { SqliteSkillIndex } from "../../../packages/haversack/src/store/sqlite/skills/skill-index.ts";

export const Probe = async (input: PluginInput) => {
  const note = (line: unknown) =>
    appendFileSync(join(process.env["HAVERSACK_TEST_FOLDER"] ?? "", "probe.jsonl"), `${JSON.stringify(line)}\n`);
  const root = input.directory;
  const handle = openForHook(join(root, ".haversack/haversack.db"), {
    busyMs: 100,
    userState: userStateFolder(process.env),
  });
  note({ isOpen: handle !== undefined, bun: process.versions["bun"] });
  if (!handle) return {};
  const engine: HookEngine = {
    answer(event) {
      if (event.kind === "prompt") return answerPrompt(event);
      if (event.kind === "after-tool") {
        recordCall(event);
        return {};
      }
      const { kind, client, sessionId, agentId, cwd } = event;
      new SqliteLocalStore(handle).touchSession({ sessionId, agentId, cwd, client: client.name, at: new Date() });
      note({ kind, agentId });
      if (kind === "session-start" && event.source === "compact") return { context: "PACKET-AFTER-COMPACTION" };
      return kind === "before-spawn" ? { prompt: `${event.prompt}\n\nPACKET-OF-THE-TASK` } : {};
    },
    isCallAwaited: () => false,
    holders: () => [],
    notice: () => undefined,
    log: (level, text) => note({ level, text }),
  };
  return haversackPlugin(input, { engine, addTo: () => undefined });

  function answerPrompt({ prompt = "", ...event }: EventBase & { prompt: string | undefined }): EventAnswer {
    const startedAt = performance.now();
    const { text } = discover(
      { ...event, prompt, root, at: new Date() },
      {
        index: new SqliteSkillIndex(handle!.db),
        ledger: new PromptLedger(handle!),
        settings: discoverSettings(readConfig([]).config),
      },
    );
    note({ promptMs: performance.now() - startedAt });
    return text ? { context: text } : {};
  }

  function recordCall({ client, tool, ...event }: EventBase & ToolCall): void {
    if (!tool) return;
    const host = { env: process.env, process: () => undefined, cli: [], part: "probe" };
    recordTool({ ...event, client, tool }, eventProject(projectPaths(root, process.env), handle!, host));
  }
};
