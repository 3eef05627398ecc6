/**
 * The words of this trade, written by hand: what to drop, what is one name, what means the same, and which worlds exclude one
 * another. Terms are stems as `termOf` gives them.
 */

/** Names whose signs or spaces would be lost, and the words that stand for them. Order matters: ASP.NET before .NET. */
export const SIGNED_NAMES: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bc#/gi, " csharp "],
  [/\bf#/gi, " fsharp "],
  [/\bc\+\+/gi, " cpp "],
  [/\basp\.net\b/gi, " aspnet dotnet "],
  [/(?<![\w/])\.net\b/gi, " dotnet "],
  // The language, not the verb: a capital inside a sentence.
  [/(?<=[\w,] )Go\b(?! to\b)/g, " golang "],
  // The verb, not the library.
  [/\breact(?:s|ed|ing)? to\b/g, " respond "],
  [/\bci ?\/ ?cd\b/gi, " cicd "],
  [/\bpub ?\/ ?sub\b/gi, " pubsub "],
  [/\b(?:pull|merge)[- ]request(s?)\b/gi, " pr$1 "],
  // R&D, Q&A.
  [/(?<=[A-Z])&(?=[A-Z])/g, ""],
  [/\b(node|next|vue|nuxt|express|react|three|d3|chart|ember|backbone|alpine|nest|solid)\.js\b/gi, " $1js "],
];

/** Written with a hump, but one word to everybody. */
// biome-ignore format: one word a line would be longer than the file.
export const ONE_NAME: ReadonlySet<string> = new Set([
  "github", "gitlab", "bitbucket", "javascript", "typescript", "graphql", "mongodb", "dynamodb", "postgresql",
  "mysql", "sqlite", "openai", "chatgpt", "devops", "youtube", "linkedin", "wordpress", "rabbitmq", "webassembly",
  "powershell", "pytorch", "tensorflow", "cloudflare", "cloudformation", "clickhouse", "websocket", "websockets",
  "nodejs", "nextjs", "openapi", "stackoverflow", "testflight", "xcode", "datadog", "pagerduty", "macos",
]);

/** One spelling for one thing, as terms: abbreviations that mean their long form in every field. */
// biome-ignore format: one word a line would be longer than the file.
export const ABBREVIATIONS: ReadonlyMap<string, string> = new Map(Object.entries({
  k8s: "kubernetes", db: "databas", dbs: "databas", repo: "repositori", repos: "repositori", js: "javascript",
  ts: "typescript", py: "python", postgres: "postgresql", pg: "postgresql", mongo: "mongodb", env: "environ",
  envs: "environ", perf: "perform", prs: "pr", spec: "specific", specs: "specific", app: "applic", apps: "applic",
  docs: "doc", param: "paramet", params: "paramet", impl: "implement", deps: "depend", dep: "depend", vms: "vm",
  node: "nodejs", a11y: "access", i18n: "internation", l10n: "local", dir: "directori", dirs: "directori",
  func: "function", funcs: "function", info: "inform", msg: "messag", netcore: "dotnet", cs: "csharp",
  tf: "terraform", llms: "llm", apis: "api",
}));

/** Words that say nothing about what a text is about. */
// biome-ignore format: one word a line would be longer than the file.
export const STOP_WORDS: ReadonlySet<string> = new Set([
  "a", "an", "the", "this", "that", "these", "those", "it", "its", "itself", "i", "me", "my", "mine", "myself",
  "we", "us", "our", "ours", "you", "your", "yours", "he", "she", "his", "her", "they", "them", "their", "there",
  "here", "who", "whom", "whose", "which", "what", "when", "where", "why", "how", "and", "or", "but", "nor", "so",
  "if", "then", "else", "than", "as", "at", "by", "for", "from", "in", "into", "of", "off", "on", "onto", "out",
  "over", "per", "to", "up", "upon", "via", "with", "within", "without", "about", "above", "across", "after",
  "again", "against", "along", "among", "around", "before", "behind", "below", "beneath", "beside", "between",
  "beyond", "down", "during", "except", "inside", "like", "near", "outside", "past", "since", "through",
  "throughout", "till", "toward", "towards", "under", "until", "unlike", "is", "am", "are", "was", "were", "be",
  "been", "being", "do", "does", "did", "doing", "done", "has", "have", "had", "having", "can", "could", "may",
  "might", "must", "shall", "should", "will", "would", "cannot", "can't", "don't", "doesn't", "didn't", "isn't",
  "aren't", "wasn't", "weren't", "won't", "wouldn't", "shouldn't", "couldn't", "haven't", "hasn't", "let", "let's",
  "lets", "not", "no", "yes", "ok", "okay", "please", "thanks", "thank", "hi", "hello", "hey", "just", "only",
  "also", "too", "very", "really", "quite", "rather", "even", "still", "already", "yet", "ever", "never", "always",
  "often", "sometimes", "maybe", "perhaps", "all", "any", "both", "each", "few", "more", "most", "much", "many",
  "other", "others", "another", "some", "such", "own", "same", "several", "every", "either", "neither", "one",
  "two", "three", "ones", "thing", "things", "stuff", "something", "anything", "everything", "nothing", "someone",
  "anyone", "everyone", "way", "ways", "lot", "lots", "bit", "need", "needs", "needed", "want", "wants", "wanted",
  "help", "helps", "helping", "use", "uses", "used", "using", "make", "makes", "making", "made", "get", "gets",
  "getting", "got", "give", "gives", "giving", "go", "goes", "going", "gone", "know", "knows", "try", "tries",
  "trying", "tried", "keep", "keeps", "keeping", "kept", "seem", "seems", "look", "looks", "looking", "take",
  "takes", "taking", "come", "comes", "put", "puts", "able", "eg", "ie", "etc", "vs", "sure", "now", "today",
  "currently", "available", "im", "ive", "id", "dont", "doesnt", "cant", "whats", "thats", "theres", "best",
  "good", "better", "well", "right", "proper", "properly", "whether", "whenever", "because", "while", "instead",
  "however", "therefore", "according", "due", "plus", "new", "user", "users", "asks", "ask", "asked", "asking",
  "including", "includes", "include",
]);

/**
 * Words that developers use for one another, whatever the field, as terms. A prompt's word also finds skills that say the other, at a
 * discount.
 */
const FAMILIES: readonly (readonly string[])[] = [
  ["slow", "fast", "latenci", "perform", "spe", "bottleneck", "optim"],
  ["cost", "monei", "pric", "spend", "cheap", "bill", "budget", "expens"],
  ["bug", "error", "failur", "crash", "defect", "exception", "fail"],
  ["debug", "diagnos", "troubleshoot", "investig"],
  ["deploi", "ship", "releas", "publish", "host", "rollout"],
  ["delet", "remov", "drop"],
  ["review", "audit", "inspect"],
  ["plan", "roadmap", "breakdown"],
  ["auth", "authentic"],
  ["auth", "author"],
  ["login", "authentic", "signin"],
  ["permiss", "author", "access", "role"],
  ["secret", "credenti", "password"],
  ["messag", "queu", "event"],
  ["chart", "graph", "plot", "diagram", "visual"],
  ["ui", "interfac", "frontend", "layout"],
  ["styl", "css", "them"],
  ["excel", "spreadsheet", "xlsx"],
  ["powerpoint", "slid", "deck", "present", "pptx"],
  ["word", "docx"],
  ["pictur", "imag", "photo"],
  ["kubernetes", "clust", "pod"],
  ["dock", "container", "dockerfil"],
  ["vulner", "secur", "exploit", "attack", "harden"],
  ["refact", "cleanup", "simplifi", "restructur"],
  ["upgrad", "migr", "modern", "port"],
  ["monit", "observ", "telemetri", "metric"],
  ["concurrenci", "parallel", "thread"],
  ["aggreg", "group", "sum", "total"],
  ["idea", "brainstorm"],
  ["estim", "effort", "dur"],
  ["access", "wcag", "aria"],
  ["transl", "local", "international"],
  ["scaffold", "bootstrap", "initial", "templ"],
  ["mock", "stub", "fake"],
  ["schedul", "cron", "timer"],
  ["cach", "memo"],
  ["retri", "resili", "backof"],
  ["benchmark", "profil"],
  ["infrastructur", "terraform", "iac", "bicep"],
  ["llm", "gpt", "claud", "openai"],
  ["rag", "embed", "vect", "semantic"],
];

/** The terms of a term's families, itself left out. */
export function synonymsOf(term: string): string[] {
  return FAMILIES.flatMap((family) => (family.includes(term) ? family.filter((other) => other !== term) : []));
}

/**
 * Worlds that exclude one another: a skill for .NET does not help with a Python service, though both say "REST API". The axis stands
 * before the colon, the words as they are written, lower-cased. Words that live in several worlds are not listed.
 */
// biome-ignore format: one word a line would be longer than the file.
const WORLDS: Readonly<Record<string, readonly string[]>> = {
  "language:dotnet": ["dotnet", "aspnet", "csharp", "fsharp", "nuget", "blazor", "msbuild", "xunit", "nunit", "wpf", "winforms", "winui", "maui", "roslyn", "efcore", "ef core", "csproj"],
  "language:js": ["javascript", "typescript", "js", "ts", "nodejs", "npm", "pnpm", "yarn", "eslint", "jest", "vitest", "nextjs", "expressjs", "prisma", "react", "vue", "angular", "svelte", "vite", "webpack", "deno", "tailwind", "redux", "zustand", "pinia"],
  "language:python": ["python", "pip", "pytest", "django", "flask", "fastapi", "pandas", "numpy", "sqlalchemy", "pydantic", "scikit", "pytorch", "tensorflow"],
  "language:java": ["java", "maven", "gradle", "spring boot", "junit", "jvm", "hibernate", "groovy"],
  "language:kotlin": ["kotlin", "jetpack compose"],
  "language:go": ["golang", "gorm"],
  "language:rust": ["rust", "cargo", "tokio", "serde", "axum", "clippy"],
  "language:ruby": ["ruby", "rails", "activerecord", "rspec", "sidekiq"],
  "language:php": ["php", "laravel", "symfony", "eloquent"],
  "language:swift": ["swift", "swiftui", "xcode", "uikit", "cocoapods"],
  "language:dart": ["dart", "flutter", "riverpod"],
  "language:elixir": ["elixir", "phoenix", "erlang"],
  "language:cpp": ["cpp", "cmake"],
  "language:bash": ["bash", "zsh"],
  "mobile:ios": ["ios", "swiftui", "xcode", "testflight"],
  "mobile:android": ["android", "kotlin", "gradle"],
  "cloud:aws": ["aws", "ec2", "s3", "fargate", "ecs", "eks", "dynamodb", "cloudformation", "cloudfront"],
  "cloud:azure": ["azure", "aks", "entra", "bicep"],
  "cloud:gcp": ["gcp", "gke", "bigquery", "firestore"],
  "cloud:cloudflare": ["cloudflare"],
  "cloud:vercel": ["vercel"],
  "cloud:heroku": ["heroku"],
  "database:mongodb": ["mongodb", "mongo", "mongoose"],
  "database:postgresql": ["postgresql", "postgres"],
  "database:mysql": ["mysql", "mariadb"],
  "database:sqlserver": ["mssql", "sql server"],
  "database:redis": ["redis"],
  "database:cassandra": ["cassandra"],
  "database:dynamodb": ["dynamodb"],
  "ui:react": ["react", "nextjs"],
  "ui:vue": ["vue", "nuxt"],
  "ui:angular": ["angular"],
  "ui:svelte": ["svelte"],
  "ui:blazor": ["blazor"],
  "ui:flutter": ["flutter"],
  "ci:github": ["github actions"],
  "ci:gitlab": ["gitlab"],
  "ci:jenkins": ["jenkins"],
  "ci:circleci": ["circleci"],
};

let worldsByWord: Map<string, string[]> | undefined;

function makeWorldsByWord(): Map<string, string[]> {
  const byWord = new Map<string, string[]>();
  for (const [world, words] of Object.entries(WORLDS)) {
    for (const word of words) byWord.set(word, [...(byWord.get(word) ?? []), world]);
  }
  return byWord;
}

/** The worlds that a text speaks of, by its words and pairs of words: `language:dotnet`, `cloud:aws`. */
export function worldsOf(...texts: readonly (readonly { text: string }[])[]): string[] {
  worldsByWord ??= makeWorldsByWord();
  const worlds = new Set<string>();
  for (const { text } of texts.flat()) for (const world of worldsByWord.get(text) ?? []) worlds.add(world);
  return [...worlds];
}

/** The given worlds and all others on their axes. */
export function rivalsOf(worlds: readonly string[]): string[] {
  const all = Object.keys(WORLDS);
  return [...new Set(worlds.map(axisOf))].flatMap((axis) => all.filter((world) => axisOf(world) === axis));
}

/** True when both speak of an axis and share no world on it. */
export function worldsConflict(prompt: readonly string[], skill: readonly string[]): boolean {
  return prompt.some((world) => {
    const rivals = skill.filter((other) => axisOf(other) === axisOf(world));
    return rivals.length > 0 && !rivals.some((rival) => prompt.includes(rival));
  });
}

function axisOf(world: string): string {
  return world.slice(0, world.indexOf(":"));
}
