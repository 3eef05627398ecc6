/**
 * Translates the statements of the work store, which are written for SQLite, into PostgreSQL's SQL. Only what the two say differently:
 * parameters, upserts, JSON lists, numbers as truth values. A statement that this does not know fails in the store's suite.
 */

/** The statement, and the column that holds the number of a new row. */
export interface Translated {
  text: string;
  numberColumn?: string;
}

const known = new Map<string, Translated>();

export function toPostgres(sql: string): Translated {
  let found = known.get(sql);
  if (!found) {
    found = translate(sql);
    known.set(sql, found);
  }
  return found;
}

function translate(sql: string): Translated {
  const [, how, table = ""] = /^\s*INSERT( OR \w+)? INTO (\w+)/.exec(sql) ?? [];
  let text = sql.replace(/^\s*INSERT OR \w+ INTO/, "INSERT INTO");
  if (how === " OR IGNORE") text += " ON CONFLICT DO NOTHING";
  if (how === " OR REPLACE") text += replacing(table, text);
  for (const [pattern, replacement] of RULES) text = text.replace(pattern, replacement);
  text = numbered(text);
  const numberColumn = /^INSERT INTO/.test(text) && !/ON CONFLICT/.test(text) ? NUMBERS[table] : undefined;
  return numberColumn === undefined ? { text } : { text: `${text} RETURNING ${numberColumn}`, numberColumn };
}

const RULES: readonly (readonly [RegExp, string])[] = [
  // A number as a condition.
  [/\b(WHERE|AND) 1(?=$| (?:AND|ORDER|GROUP|LIMIT)\b)/g, "$1 true"],
  [/\bWHERE 0$/, "WHERE false"],
  // A condition as a number.
  [/= \((is_todo|\?\d*) AND ([^()]+)\)/g, "= CASE WHEN $1 = 1 AND $2 THEN 1 ELSE 0 END"],
  [/\bmin\((?=[^()]*,)/g, "least("],
  [/\bmax\((?=[^()]*,)/g, "greatest("],
  [
    /\b(seq|task) IN \(SELECT value FROM json_each\((\?\d*)\)\)/g,
    "$1 IN (SELECT value::bigint FROM json_array_elements_text($2::json))",
  ],
  [/json_each\((\?\d*)\)/g, "json_array_elements_text($1::json)"],
  [
    /json_group_array\(alias\) FROM \(SELECT alias FROM aliases WHERE id = (\S+) ORDER BY alias\)/g,
    "coalesce(json_agg(alias ORDER BY alias), '[]')::text FROM aliases WHERE id = $1",
  ],
  // Only a hint to SQLite: the order of the tables.
  [/CROSS JOIN (\w+ \w+) ON/g, "JOIN $1 ON"],
  [/(\w+) = (\?\d*) COLLATE NOCASE/g, "lower($1) = lower($2)"],
];

/**
 * `?` and `?1` become `$1`. The server cannot infer the type of a parameter that is compared with NULL, so the type is
 * stated.
 */
function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/\?(\d*)( IS NULL)?/g, (_, number: string, isNull = "") => {
    const place = number === "" ? ++count : Number(number);
    const isNumber = number !== "" && new RegExp(`\\.(story|epic|attempt) = \\?${number}\\b`).test(sql);
    return `$${place}${isNull && (isNumber ? "::bigint" : "::text")}${isNull}`;
  });
}

const KEYS: Readonly<Record<string, readonly [key: string, others: readonly string[]]>> = {
  meta: ["key", ["value"]],
  task_wip: ["task", ["data", "updated_at"]],
  runs: ["id", ["scope_kind", "scope_id", "state", "started_at", "seen_at", "ended_at", "stop_request", "data"]],
  run_sessions: ["run_id, number", ["started_at", "data"]],
  run_tasks: ["run_id, task_id", ["at", "data"]],
  claims: ["task", ["agent", "session_id", "agent_id", "claimed_at", "heartbeat_at", "lease_until"]],
};

function replacing(table: string, sql: string): string {
  const [key, others] = KEYS[table] ?? [];
  if (key === undefined) throw new Error(`no key is known for ${sql}`);
  return ` ON CONFLICT (${key}) DO UPDATE SET ${others?.map((name) => `${name} = excluded.${name}`).join(", ")}`;
}

/** The column that the database fills with the next number. */
const NUMBERS: Readonly<Record<string, string>> = {
  epics: "seq",
  stories: "seq",
  tasks: "seq",
  handoffs: "seq",
  messages: "seq",
  agents: "seq",
  activity: "id",
  blockers: "id",
  failures: "id",
  task_wip_changes: "id",
  batches: "id",
  skill_history: "id",
  lost_claims: "token",
};

// PostgreSQL stores no NUL character. It is written as two characters, which keeps the order of texts.

export function escapeText<T>(value: T): T | string {
  if (typeof value !== "string" || !ESCAPED.test(value)) return value;
  return value.replaceAll("\x01", "\x011").replaceAll("\0", "\x010");
}

export function restoreText(text: string): string {
  return text.includes("\x01") ? text.replace(/\x01([01])/g, (_, mark) => (mark === "0" ? "\0" : "\x01")) : text;
}

const ESCAPED = /[\0\x01]/;
