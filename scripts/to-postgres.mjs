// Converts modules that call SQLite to modules that wait for PostgreSQL: `async` and `await` are added where a function reads or writes the
// store, and only the declarations are kept that the PostgreSQL store needs. For make-postgres.mjs.
import { parseAst } from "vite";

/** Parameters and variables that hold a function which reads the store. */
const CALLBACKS = new Set(["has", "taskId", "subjectId", "taskOf", "add", "read", "within"]);

/** Called with a database but without reading it. */
const PURE = new Set(["statement"]);

const ARRAY_METHODS = {
  map: "mapEach",
  flatMap: "flatMapEach",
  filter: "filterEach",
  some: "someEach",
  find: "findEach",
};

/** `sources`: file → text. `outside`: the names that are used by other modules. Returns the same files, converted. */
export function toPostgres(sources, outside) {
  const shake = shaker(sources, outside);
  return new Map([...sources.keys()].map((file) => [file, make(file, shake(file))]));
}

/** The names that these texts import from the converted modules. */
export function importedNames(texts) {
  const names = new Set();
  for (const { program, nodes } of texts.map(parse)) {
    for (const { type, source, specifiers } of program.body) {
      if (type !== "ImportDeclaration" || !/^\.\/work\/|^\.\/[a-z-]+\.ts$/.test(source.value)) continue;
      for (const { imported, local } of specifiers) {
        if (imported) names.add(imported.name);
        else
          for (const { object, property } of nodes.filter((node) => node.type === "MemberExpression"))
            if (object.name === local.name) names.add(property.name);
      }
    }
  }
  return names;
}

// One source file: its text and its tree, with each node's parent.

function parse(text) {
  const program = parseAst(text, { lang: "ts" });
  const parents = new Map();
  const nodes = [];
  const visit = (node, parent) => {
    if (!node || typeof node.type !== "string") return;
    parents.set(node, parent);
    nodes.push(node);
    for (const value of Object.values(node)) {
      if (Array.isArray(value)) for (const item of value) visit(item, node);
      else if (value && typeof value === "object") visit(value, node);
    }
  };
  visit(program, undefined);
  return { text, program, parents, nodes };
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** Turns the source of one file into its counterpart. */
function convert(text) {
  const { program, parents, nodes } = parse(text);
  const asyncNames = new Set(CALLBACKS);
  const asyncFunctions = new Set();
  const awaited = new Set();
  const each = new Map();
  const functionOf = (node) => {
    for (let at = parents.get(node); at; at = parents.get(at)) if (FUNCTIONS.has(at.type)) return at;
    return undefined;
  };
  const isDb = (node) =>
    (node?.type === "Identifier" && node.name === "db") ||
    (node?.type === "MemberExpression" && text.slice(node.start, node.end) === "this.#db");
  const nameOf = (callee) => {
    if (callee.type === "Identifier") return callee.name;
    if (callee.type === "MemberExpression" && callee.property.type === "PrivateIdentifier")
      return `#${callee.property.name}`;
    return undefined;
  };
  const readsStore = (call) => {
    const { callee } = call;
    const name = nameOf(callee);
    if (name !== undefined && PURE.has(name)) return false;
    if (callee.type === "MemberExpression" && ["prepared", "idPlans"].includes(callee.object.name)) return false;
    if (isDb(call.arguments[0])) return true;
    if (name !== undefined && asyncNames.has(name)) return true;
    if (callee.type !== "MemberExpression") return false;
    const { object, property } = callee;
    if (isDb(object)) return property.name === "exec";
    if (object.type === "NewExpression") return isDb(object.arguments[0]);
    // statement(db, sql).get(…), db.prepare(sql).all(…)
    return (
      object.type === "CallExpression" && /^(statement\(|db\.prepare\()/.test(text.slice(object.start, object.end))
    );
  };
  const isAsyncCallback = (node) =>
    node !== undefined &&
    (asyncFunctions.has(node) ||
      (node.type === "Identifier" && asyncNames.has(node.name) && !CALLBACKS.has(node.name)));
  const markAsync = (fn) => {
    if (!fn || asyncFunctions.has(fn)) return false;
    asyncFunctions.add(fn);
    const holder = parents.get(fn);
    if (fn.type === "FunctionDeclaration") asyncNames.add(fn.id.name);
    else if (holder?.type === "VariableDeclarator" && holder.id.type === "Identifier") asyncNames.add(holder.id.name);
    else if (holder?.type === "MethodDefinition" && holder.key.type === "PrivateIdentifier")
      asyncNames.add(`#${holder.key.name}`);
    return true;
  };
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const node of nodes) {
      if (node.type !== "CallExpression") continue;
      const { callee } = node;
      const method = callee.type === "MemberExpression" ? ARRAY_METHODS[callee.property.name] : undefined;
      if (method && isAsyncCallback(node.arguments[0]) && !each.has(node)) {
        each.set(node, method);
        isChanged = true;
      }
      const reads = each.has(node) || readsStore(node);
      if (!reads) continue;
      if (!awaited.has(node)) {
        awaited.add(node);
        isChanged = true;
      }
      if (markAsync(functionOf(node))) isChanged = true;
    }
  }

  const edits = [];
  const insert = (at, added, size) => edits.push({ from: at, to: at, added, size });
  for (const node of awaited) {
    const size = node.end - node.start;
    const loop = parents.get(node);
    // A cursor: its rows come one by one.
    if (loop?.type === "ForOfStatement" && loop.right === node && node.callee.property?.name === "iterate") {
      insert(loop.start + "for".length, " await", 0);
      continue;
    }
    const method = each.get(node);
    insert(node.start, method ? `(await ${method}(` : "(await ", size);
    edits.push({ from: node.end, to: node.end, added: ")", size: -size });
    if (method)
      edits.push({
        from: text.lastIndexOf(".", node.callee.property.start),
        to: node.arguments[0].start,
        added: ", ",
        size: 0,
      });
  }
  for (const fn of asyncFunctions) {
    const holder = parents.get(fn);
    const isMethod = holder && (holder.type === "MethodDefinition" || (holder.type === "Property" && holder.method));
    insert(isMethod ? holder.start : fn.start, "async ", Number.POSITIVE_INFINITY);
    if (fn.returnType) promise(fn.returnType.typeAnnotation, fn.generator);
  }
  for (const node of nodes) {
    if (node.type !== "TSFunctionType" && node.type !== "TSMethodSignature") continue;
    const [first] = node.params;
    const holder = parents.get(parents.get(node));
    const name = node.type === "TSMethodSignature" ? node.key.name : (holder?.key?.name ?? holder?.name);
    if (first?.name === "db" || CALLBACKS.has(name)) promise(node.returnType.typeAnnotation, false);
  }
  function promise(type, isGenerator) {
    if (isGenerator) return insert(type.start, "Async", 0);
    insert(type.start, "Promise<", 0);
    edits.push({ from: type.end, to: type.end, added: ">", size: 0 });
  }
  const helpers = [...new Set(each.values())].sort();
  return { text: apply(text, edits), helpers, program };
}

/** The outer of two that begin at one place comes first; the inner of two that end at one place. */
function apply(text, edits) {
  edits.sort((a, b) => a.from - b.from || b.size - a.size);
  // Ends come before starts at the same place.
  edits.sort((a, b) => a.from - b.from || Number(b.size < 0) - Number(a.size < 0));
  let done = "";
  let at = 0;
  for (const edit of edits) {
    done += text.slice(at, edit.from) + edit.added;
    at = edit.to;
  }
  return done + text.slice(at);
}

// Only what the PostgreSQL store needs: the rest serves hooks, which never open it.

function namesIn(node) {
  const names = new Set();
  const visit = (value) => {
    if (!value || typeof value !== "object") return;
    if (Array.isArray(value)) return value.forEach(visit);
    if (value.type === "Identifier") names.add(value.name);
    Object.values(value).forEach(visit);
  };
  visit(node);
  return names;
}

function declaredIn(statement) {
  const inner = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
  if (!inner) return [];
  if (inner.type === "VariableDeclaration") return inner.declarations.map(({ id }) => id.name);
  return inner.id ? [inner.id.name] : [];
}

function shaker(sources, outside) {
  const trees = new Map([...sources].map(([file, text]) => [file, parse(text).program]));
  const needed = new Map([...sources.keys()].map((file) => [file, new Set()]));
  const imported = new Set(outside);
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const [file, program] of trees) {
      for (const statement of program.body) {
        if (statement.type === "ImportDeclaration" || needed.get(file).has(statement)) continue;
        const names = declaredIn(statement);
        const isExported = statement.type === "ExportNamedDeclaration";
        const inFile = new Set([...needed.get(file)].flatMap((other) => [...namesIn(other)]));
        if (!names.some((name) => inFile.has(name) || ((isExported || outside.has(name)) && imported.has(name))))
          continue;
        needed.get(file).add(statement);
        isChanged = true;
        const used = namesIn(statement);
        for (const other of program.body)
          if (other.type === "ImportDeclaration" && other.source.value.startsWith("."))
            for (const specifier of other.specifiers)
              if (used.has(specifier.local.name)) imported.add(specifier.imported.name);
      }
    }
  }

  /** Removes unused declarations, and `export` where only the file itself uses the declaration. */
  return function shake(file) {
    const text = sources.get(file);
    const { body } = trees.get(file);
    let done = "";
    let at = 0;
    const usedElsewhere = (name) =>
      outside.has(name) ||
      [...trees].some(
        ([other, program]) =>
          other !== file &&
          program.body.some(
            (each) =>
              each.type === "ImportDeclaration" &&
              each.specifiers.some((specifier) => specifier.imported.name === name) &&
              [...needed.get(other)].some((statement) => namesIn(statement).has(name)),
          ),
      );
    for (const statement of body) {
      const end = statement.end;
      if (statement.type === "ImportDeclaration") {
        const used = new Set([...needed.get(file)].flatMap((other) => [...namesIn(other)]));
        const kept = statement.specifiers.filter(({ local }) => used.has(local.name));
        const lead = text.slice(at, statement.start);
        if (kept.length > 0) {
          const names = kept.map((each) => text.slice(each.start, each.end)).join(", ");
          const isType = /^import type/.test(text.slice(statement.start, end));
          done += `${lead}import ${isType ? "type " : ""}{ ${names} } from ${statement.source.raw};`;
        } else done += lead.trimEnd();
      } else if (needed.get(file).has(statement)) {
        let part = text.slice(at, end);
        const isExported = statement.type === "ExportNamedDeclaration";
        if (isExported && !declaredIn(statement).some(usedElsewhere)) {
          const offset = statement.start - at;
          part = part.slice(0, offset) + part.slice(offset).replace(/^export /, "");
        }
        if (!isExported && declaredIn(statement).some((name) => outside.has(name))) {
          const offset = statement.start - at;
          part = `${part.slice(0, offset)}export ${part.slice(offset)}`;
        }
        done += part;
      }
      at = end;
    }
    return `${done}\n`;
  };
}

function make(file, source) {
  const { text, helpers } = convert(source);
  const up = file.includes("/") ? "../../" : "../";
  const first = helpers.length > 0 ? `import { ${helpers.join(", ")} } from "${up}each.ts";\n` : "";
  const types = text
    .replace(
      /import type \{([^}]*)\} from "node:sqlite";/,
      (_, names) =>
        `import type {${names.replace(/DatabaseSync/, "Connection").replace(/StatementSync/, "Statement")}} from "${up}connection.ts";`,
    )
    .replace(/\bDatabaseSync\b/g, "Connection")
    .replace(/\bStatementSync\b/g, "Statement");
  const head = `// Made from store/sqlite/work/${file} by scripts/make-postgres.mjs: change it there.\n`;
  const at = types.search(/^import /m);
  return `${head}${types.slice(0, at)}${first}${types.slice(at)}`;
}
