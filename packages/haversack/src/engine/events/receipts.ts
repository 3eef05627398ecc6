/** Documents that a sub-agent must read: recorded when it starts, while it works and when it ends. */
import { existsSync } from "node:fs";
import { mayHaveToRead, placeReader } from "../../store/sqlite/artifacts/artifact-observations.ts";
import { findFeatureBlock, roleOf } from "../artifacts/find-feature-block.ts";
import { addDocuments, expectFromPrompt, judgeReader, noteSeen, type ReaderParts } from "../artifacts/watch-reader.ts";
import type { ClientEvent, EventAnswer } from "./client-event.ts";
import type { EventProject } from "./event-project.ts";

type Of<Kind extends ClientEvent["kind"]> = Extract<ClientEvent, { kind: Kind }>;

/** `answer`: the answer to the event so far. */
export function watchReader(event: ClientEvent, answer: EventAnswer, project: EventProject): EventAnswer {
  const { handle, now } = project;
  switch (event.kind) {
    case "before-spawn":
      return noteSpawn(event, answer.prompt, project);
    case "after-spawn": {
      const child = { sessionId: event.sessionId, agentId: event.childId };
      if (event.isOnlySign && mayHaveToRead(handle.db, child))
        placeReader(handle, child, { toolUseId: event.toolUseId, agentType: "", at: now });
      return {};
    }
    case "agent-stop":
      return mayHaveToRead(handle.db, event) ? judgeEnd(event, project) : {};
    default:
      return {};
  }
}

export function noteReading(event: Of<"after-tool">, project: EventProject): void {
  const { observation, cwd } = event;
  if (!observation || !mayHaveToRead(project.handle.db, event)) return;
  noteSeen(event, { observation, cwd }, readerParts(event, project));
}

/** `given`: the changed prompt, if something was added to it already. */
function noteSpawn(call: Of<"before-spawn">, given: string | undefined, project: EventProject): EventAnswer {
  const hasRoleMap = existsSync(`${project.state}/artifacts.json`);
  if (!hasRoleMap && !call.prompt.includes("Required Artifacts")) return {};
  if (expectFromPrompt(call.prompt, call, project)) return {};
  if (!hasRoleMap || call.receipts !== "found") return {};
  const { root, env, cli } = project;
  const block = findFeatureBlock({ ...call, root, env, cli });
  // A block of unreadable documents is of no use.
  const role = { ...call, agentType: roleOf(call.agentType) };
  if (block === undefined || !addDocuments(block, role, project)) return {};
  return { prompt: `${given ?? call.prompt}\n\n${block}` };
}

function judgeEnd(event: Of<"agent-stop">, project: EventProject): EventAnswer {
  const { root, config } = project;
  const sendBack = () => event.canGoOn === true && config()["artifacts.send_back"];
  const text = judgeReader(event, { root, answer: event.answer, sendBack }, readerParts(event, project));
  return text === undefined ? {} : { sendBack: text };
}

function readerParts(
  { agentType = "", startedBy = () => undefined }: { agentType?: string; startedBy?(): string | undefined },
  { handle, now }: EventProject,
): ReaderParts {
  return { handle, now, agentType, startedBy };
}
