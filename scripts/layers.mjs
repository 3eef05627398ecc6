// The folders of src/ and their allowed imports, as data. `npm run check` checks every import against it, and
// docs/explanation/architecture.md shows it.
export const LAYERS = [
  ["base", "ids, clock, the error class, settings, project root, log, masking, reading JSON and frontmatter", []],
  ["tokens", "counting, budgets, fitting ranked parts into a budget", ["base"]],
  ["skills", "registry, rules, matching, disclosure, ledger rules, skill text", ["base", "tokens"]],
  ["work", "tasks, dependencies, queue order, WIP merge, handoffs and decay, batch sizing", ["base", "tokens"]],
  ["artifacts", "role maps, reference blocks, sections, receipts", ["base", "tokens"]],
  ["wake", "the packet, messages and mentions", ["base", "tokens", "skills", "work", "artifacts"]],
  [
    "store",
    "the interfaces, `sqlite/`, migrations, one suite for every driver",
    // The store applies the rules of work inside its transactions: queue order, allowed status changes, decay.
    ["base", "type:skills", "work", "type:artifacts", "wake"],
  ],
  [
    "engine",
    "one file per use case: read, decide, write, report",
    ["base", "tokens", "skills", "work", "artifacts", "wake", "store"],
  ],
  [
    "clients",
    "one adapter per coding client, and the hook files: payload in, engine, payload out",
    ["base", "skills", "work", "artifacts", "store", "engine"],
  ],
  [
    "runs",
    "headless sessions: start, follow, stop, verify, fix, chain",
    // The rules of batches and verdicts are used here too; the store is used through its interface.
    ["base", "work", "type:store", "engine", "clients"],
  ],
  ["mcp", "the MCP server", ["base", "tokens", "engine"]],
  ["agents", "the library for agents in TypeScript", ["base", "tokens", "skills", "work", "engine"]],
  ["board-server", "the web board's server", ["base", "tokens", "type:work", "engine"]],
  [
    "audit",
    "what filled the windows of past sessions, and what Haversack would have saved",
    ["base", "tokens", "skills", "store", "engine", "clients"],
  ],
  ["cli", "one file per command, loaded when called; opens the store and wires the rest", ["*"]],
];
