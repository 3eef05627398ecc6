/**
 * Words that need care when a text is split: names with signs, names with humps, and stop words. Earlier versions also had lists of
 * synonyms, abbreviations and rival technologies. Those helped only on the prompts they were written from.
 */

/**
 * Names whose signs or spaces would be lost, and their replacements. Order matters: ASP.NET before .NET. Each begins with what the text
 * must contain in lower case: compiling a pattern takes a new process longer than a look at the whole prompt.
 */
export const SIGNED_NAMES: readonly (readonly [sign: string, pattern: RegExp, name: string])[] = [
  ["c#", /\bc#/gi, " csharp "],
  ["f#", /\bf#/gi, " fsharp "],
  ["c++", /\bc\+\+/gi, " cpp "],
  ["asp.net", /\basp\.net\b/gi, " aspnet dotnet "],
  [".net", /(?<![\w/])\.net\b/gi, " dotnet "],
  // The language, not the verb: capitalized inside a sentence.
  [" go", /(?<=[\w,] )Go\b(?! to\b)/g, " golang "],
  // The verb, not the library.
  ["react", /\breact(?:s|ed|ing)? to\b/g, " respond "],
  ["/", /\bci ?\/ ?cd\b/gi, " cicd "],
  ["/", /\bpub ?\/ ?sub\b/gi, " pubsub "],
  ["request", /\b(?:pull|merge)[- ]request(s?)\b/gi, " pr$1 "],
  // R&D, Q&A.
  ["&", /(?<=[A-Z])&(?=[A-Z])/g, ""],
  [".js", /\b(node|next|vue|nuxt|express|react|three|d3|chart|ember|backbone|alpine|nest|solid)\.js\b/gi, " $1js "],
];

/** Written with a hump, but read as one word. */
// biome-ignore format: one word a line would be longer than the file.
export const ONE_NAME: ReadonlySet<string> = new Set([
  "github", "gitlab", "bitbucket", "javascript", "typescript", "graphql", "mongodb", "dynamodb", "postgresql",
  "mysql", "sqlite", "openai", "chatgpt", "devops", "youtube", "linkedin", "wordpress", "rabbitmq", "webassembly",
  "powershell", "pytorch", "tensorflow", "cloudflare", "cloudformation", "clickhouse", "websocket", "websockets",
  "nodejs", "nextjs", "openapi", "stackoverflow", "testflight", "xcode", "datadog", "pagerduty", "macos",
]);

/** Words that say nothing about a text's subject. */
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
