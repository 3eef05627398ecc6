// The folders of src/ and who may import whom, as data. `npm run check` holds every import against it, and
// docs/ARCHITECTURE.md shows it.
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
    // Rules of work hold inside the transaction that changes it: the queue's order, which status may follow, what decays.
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
  ["runs", "headless sessions: start, follow, stop, verify, fix, chain", ["base", "engine", "clients"]],
  ["mcp", "the MCP server", ["base", "tokens", "engine"]],
  ["agents", "the library for agents in TypeScript", ["base", "tokens", "engine"]],
  ["board-server", "the web board's server", ["base", "tokens", "engine"]],
  ["measure", "replay, audit, evaluation of triggers", ["base", "tokens", "engine", "clients"]],
  ["cli", "one file per command, loaded when called; opens the store and wires the rest", ["*"]],
];
