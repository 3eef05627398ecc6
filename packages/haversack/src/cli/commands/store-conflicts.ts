/** What the shared store refused of this machine's changes. */
import { cleanLine } from "../../base/clean-text.ts";
import { HaversackError } from "../../base/errors.ts";
import { listConflicts, settleConflicts } from "../../store/sqlite/outbox/outbox.ts";
import { type Command, type ExitCode, flag, print } from "../command.ts";
import { block, formatAgo } from "../print-work.ts";
import { openProject } from "../project.ts";

const MOST = 1000;

const storeConflicts: Command = {
  spec: {
    about:
      "Lists changes of this machine that the shared store refused, such as reports on a task that somebody else had claimed meanwhile. Nothing is lost: each is shown with its content until you settle it.",
    arguments: [{ name: "NUMBER", about: "only these", many: true }],
    options: { settle: flag("Remove them from the list: you have dealt with them.") },
    examples: [
      { run: "haversack store conflicts", says: "what was refused, and why" },
      { run: "haversack store conflicts 17 --settle", says: "one is dealt with" },
    ],
    json: "[{number, operation, task_id?, agent?, at, reason, found_at, content}]; with --settle {settled: count}.",
  },
  async run(call): Promise<ExitCode> {
    const numbers = call.arguments.map((word) => {
      const number = Number(word);
      if (Number.isSafeInteger(number) && number > 0) return number;
      throw new HaversackError("usage", `NUMBER must be a number of the list, but is ${JSON.stringify(word)}`);
    });
    const isSettled = call.options["settle"] === true;
    const { handle } = openProject(call, isSettled ? { access: "save", durability: "full" } : { access: "look" });
    if (isSettled) {
      const settled = settleConflicts(handle, numbers.length > 0 ? numbers : undefined);
      print(call, { settled }, () => `${settled} ${settled === 1 ? "conflict" : "conflicts"} removed from the list.`);
      return 0;
    }
    const found = listConflicts(handle, { limit: MOST }).filter(
      ({ number }) => numbers.length === 0 || numbers.includes(number),
    );
    const views = found.map(({ number, op, args, at, taskId, agent, reason, foundAt }) => ({
      number,
      operation: op,
      ...(taskId !== undefined && { taskId }),
      ...(agent !== undefined && { agent }),
      at,
      reason,
      foundAt,
      content: JSON.parse(args),
    }));
    const now = new Date();
    print(call, views, () => {
      if (found.length === 0) return "No conflicts.";
      return found
        .map(({ number, op, args, at, agent, reason }) => {
          const who = agent === undefined ? "" : ` by ${cleanLine(agent)}`;
          return `${number}  ${op}${who}, ${formatAgo(at, now)}: ${cleanLine(reason)}\n${block(cleanLine(args, { maxChars: 500 }))}`;
        })
        .join("\n");
    });
    return 0;
  },
};

export const commands: Readonly<Record<string, Command>> = { "store conflicts": storeConflicts };
