/** What the shared store refused of this machine's changes. */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { listConflicts, settleConflicts } from "../../store/sqlite/outbox/outbox.ts";
import { defineCommand, flag } from "../command.ts";
import { block, formatAgo } from "../print-work.ts";
import { openProject } from "../project.ts";
import { counted } from "../terminal.ts";

const MOST = 1000;

export const command = defineCommand({
  about:
    "Lists changes of this machine that the shared store refused, such as reports on a task that somebody else had claimed meanwhile. Nothing is lost: each is shown with its content until you settle it.",
  arguments: [{ name: "NUMBER", about: "only these", many: true }],
  options: { settle: flag("Remove them from the list: you have dealt with them.") },
  examples: {
    "haversack store conflicts": "what was refused, and why",
    "haversack store conflicts 17 --settle": "one is dealt with",
  },
  json: "[{number, operation, task_id?, agent?, at, reason, found_at, content}]; with --settle {settled: count}.",
  async run(call) {
    const numbers = call.arguments.map((word) => {
      const number = Number(word);
      if (Number.isSafeInteger(number) && number > 0) return number;
      throw new HaversackError("usage", `NUMBER must be a number of the list, but is ${JSON.stringify(word)}`);
    });
    const isSettled = call.options["settle"] === true;
    const { handle } = openProject(call, isSettled ? { access: "save", durability: "full" } : { access: "look" });
    if (isSettled) {
      const settled = settleConflicts(handle, numbers.length > 0 ? numbers : undefined);
      return { data: { settled }, text: `${counted(settled, "conflict")} removed from the list.` };
    }
    const isNamed = (number: number) => numbers.length === 0 || numbers.includes(number);
    const found = listConflicts(handle, { limit: MOST }).filter(({ number }) => isNamed(number));
    const data = found.map(({ number, op: operation, args, at, taskId, agent, reason, foundAt }) => ({
      ...{ number, operation, taskId, agent, at, reason, foundAt, content: JSON.parse(args) },
    }));
    const now = new Date();
    const lines = found.map(({ number, op, args, at, agent, reason }) => {
      const who = agent === undefined ? "" : ` by ${cleanLine(agent)}`;
      const head = `${number}  ${op}${who}, ${formatAgo(at, now)}: ${cleanLine(reason)}`;
      return `${head}\n${block(cleanLine(args, { maxChars: 500 }))}`;
    });
    return { data, text: lines.join("\n") || "No conflicts." };
  },
});
