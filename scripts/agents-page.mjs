// The reference page of `haversack/agents`, from the emitted declarations and their doc comments. TypeScript 7 has no programmatic API, so the text
// is parsed: declarations begin in the first column and end with their last brace.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const FIRST = [
  "AgentSystemBuilder",
  "AgentExecutor",
  "AgentResult",
  "AgentSystemConfig",
  "contextSavers",
  "skillMiddleware",
];

/** `types`: the folder of the emitted declarations. */
export function agentsPage(types) {
  const index = join(types, "agents/index.d.ts");
  if (!existsSync(index)) throw new Error(`${index} is missing: npm run build`);
  const text = readFileSync(index, "utf8");
  const exported = [...text.matchAll(/^export (type )?\{([^}]*)\} from "(.+?)";$/gm)].map(([, , names, from]) => ({
    file: join(dirname(index), from.replace(/\.ts$/, ".d.ts")),
    names: names
      .split(",")
      .map((name) => name.trim().replace(/^type /, ""))
      .filter(Boolean),
  }));
  // What most readers look for comes first.
  const rank = ({ names }) => FIRST.findIndex((name) => names.includes(name)) >>> 0;
  exported.sort((a, b) => rank(a) - rank(b));
  const sections = exported.map(({ file, names }) => section(file, names));
  return `# Agents\n\nGenerated from the types of \`haversack/agents\`. \`npm run docs\` writes this page. [The tutorial](../agents-tutorial.md) shows how to use it.\n\n${describe(text)}\n\n${sections.join("\n\n")}\n`;
}

function section(file, names) {
  const text = readFileSync(file, "utf8");
  const declarations = declarationsOf(text);
  const shown = names.map((name) => {
    const found = declarations.get(name) ?? reexported(file, text, name);
    if (!found) throw new Error(`${file} has no declaration of ${name}`);
    return { name, ...found };
  });
  // What runs comes before what describes it.
  const order = ["class", "function", "const", "interface", "type"];
  shown.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  const title = names.find((name) => ["class", "function", "const"].includes(declarations.get(name)?.kind)) ?? names[0];
  const code = shown.map(({ comment, code }) => `${comment}${code}`).join("\n\n");
  // A comment before an import describes the file; any other describes the declaration after it.
  const about = /^\/\*\*[\s\S]*?\*\/\nimport /.test(text) ? describe(text) : "";
  return [`## ${title}`, about, `\`\`\`ts\n${code}\n\`\`\``].filter(Boolean).join("\n\n");
}

/** A name that the file imports from another one. */
function reexported(file, text, name) {
  const alias = [...text.matchAll(/^export(?: type)? \{([^}]*)\};$/gm)]
    .flatMap(([, names]) => names.split(","))
    .map((part) => part.trim().replace(/^type /, ""))
    .find((part) => part.endsWith(` as ${name}`))
    ?.split(" as ")[0];
  if (alias) {
    const found = declarationsOf(text).get(alias) ?? reexported(file, text, alias);
    return found && { ...found, code: found.code.replace(new RegExp(`\\b${alias}\\b`), name) };
  }
  for (const [, names, from] of text.matchAll(/^(?:import|export)(?: type)? \{([^}]*)\} from "(\.[^"]+)";$/gm)) {
    const parts = names.split(",").map((part) => part.trim().replace(/^type /, ""));
    const own = parts.find((part) => part === name || part.endsWith(` as ${name}`))?.split(" as ")[0];
    const target = own && join(dirname(file), from.replace(/\.ts$/, ".d.ts"));
    if (target && existsSync(target)) {
      const other = readFileSync(target, "utf8");
      const found = declarationsOf(other).get(own) ?? reexported(target, other, own);
      if (found) return { ...found, code: found.code.replace(new RegExp(`\\b${own}\\b`), name) };
    }
  }
  return undefined;
}

/** The comment at the top of a file, as text. */
function describe(text) {
  const [, comment] = /^\/\*\*([\s\S]*?)\*\//.exec(text) ?? [];
  if (!comment) return "";
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\*? ?/, ""));
  return lines
    .join("\n")
    .trim()
    .replace(/([^\n])\n(?=[^\n])/g, "$1 ");
}

function declarationsOf(text) {
  const found = new Map();
  const lines = text.split("\n");
  let comment = "";
  for (let at = 0; at < lines.length; at++) {
    if (lines[at].startsWith("/**")) {
      const start = at;
      while (!lines[at].includes("*/")) at++;
      comment = `${lines.slice(start, at + 1).join("\n")}\n`;
      continue;
    }
    const head =
      /^(?:export )?(?:declare )?(?:abstract )?(class|function|const|interface|type) ([A-Za-z_$][\w$]*)/.exec(
        lines[at],
      );
    if (!head) {
      comment = "";
      continue;
    }
    const start = at;
    while (depthOf(lines.slice(start, at + 1).join("\n")) > 0 || !/[;}]$/.test(lines[at])) at++;
    const code = lines
      .slice(start, at + 1)
      .filter((line) => line.trim() !== "#private;")
      .join("\n")
      .replace(/^(?:export )?(?:declare )?/, "")
      .replace(/^( {4})+/gm, (indent) => " ".repeat(indent.length / 2));
    const before = found.get(head[2]);
    // Overloads follow one another.
    found.set(head[2], before ? { ...before, code: `${before.code}\n${code}` } : { kind: head[1], comment, code });
    comment = "";
  }
  return found;
}

/** How many brackets are open, outside of comments and texts. */
function depthOf(code) {
  const bare = code.replace(/\/\*[\s\S]*?\*\/|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g, "");
  return (bare.match(/[{([]/g)?.length ?? 0) - (bare.match(/[})\]]/g)?.length ?? 0);
}
