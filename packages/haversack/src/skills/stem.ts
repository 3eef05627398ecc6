/**
 * A light English stemmer: cuts inflections (tests, testing, tested) and the commonest derivations
 * (deployment, optimizer, authentication), so that a prompt and a skill meet though they are worded differently.
 * It need not give words, only the same text for the same family. Runs in the hook process: small, no tables but one.
 */
import { PackedMap } from "./packed-words.ts";

/** Ending and what takes its place; the longest that fits counts. What remains must hold a vowel and `MIN_REST` letters. */
const ENDINGS = new PackedMap(
  " ization:ize isation:ize ational:ate fulness:ful iveness:ive ability:able ibility:ible ication:icate ation:ate ition:it " +
    "ution:ute ction:ct ssion:ss ment: ness: ally:al ator:ate able: ible: izer:ize iser:ize ance: ence: less: ful: ise:ize " +
    "ity: ive: ics:ic ly: er: or: al: ",
);
/** The last two letters of all these: most words end otherwise, and are not looked up seven times. */
const LAST_LETTERS = " on al ss ty nt ly or le er ce ul se ve cs ";
const LONGEST_ENDING = 7;
const SHORTEST_ENDING = 2;
const MIN_REST = 3;

/** Families that the endings above would split, or join with a stranger (react and reaction). Written as they are said. */
const IRREGULAR = new PackedMap(
  " document:document documents:document documented:document documenting:document documentation:doc container:container containers:container " +
    "analysis:analyz analyses:analyz diagnostic:diagnos diagnostics:diagnos diagnosis:diagnos verification:verifi " +
    "resilience:resili resilient:resili resiliency:resili subscription:subscrib subscriptions:subscrib indices:index " +
    "config:configur configs:configur written:writ wrote:writ asynchronous:async performant:perform built:build " +
    "broke:break broken:break ran:run reactive:reactive reaction:reaction author:writer authors:writer " +
    "metadata:metadata data:data server:server servers:server during:during string:string strings:string " +
    "architecture:architect architectures:architect architectural:architect dependency:depend dependencies:depend " +
    "local:local general:general generic:generic universal:universal university:university ",
);

// No regular expressions below: compiling and warming up a dozen of them cost the hook process 3 ms.
export function stem(word: string): string {
  // Names with digits or signs (net8, s3, oauth2) and other scripts do not inflect the English way.
  if (word.length < 4 || !isPlainWord(word)) return word;
  return IRREGULAR.get(word) ?? withoutTail(withoutDerivation(withoutVerbEnding(withoutPlural(word))));
}

function withoutPlural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ies")) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (endsWithAny(word, ["xes", "ches", "shes", "zes"])) return word.slice(0, -2);
  // status, focus, analysis, nodejs, kubernetes: an s that is no plural.
  if (endsWithAny(word, ["ss", "us", "is", "js", "netes"])) return word;
  return word.endsWith("s") ? word.slice(0, -1) : word;
}

function withoutVerbEnding(word: string): string {
  if (word.endsWith("ied") && word.length > 4) return `${word.slice(0, -3)}y`;
  const cut = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0;
  const rest = word.slice(0, word.length - cut);
  if (cut === 0 || rest.length < MIN_REST || !hasVowel(rest)) return word;
  if (endsWithAny(rest, ["at", "bl", "iz", "is"])) return `${rest}e`;
  return withoutDouble(rest);
}

function withoutDerivation(word: string): string {
  const once = withoutEnding(word);
  return once === word ? word : withoutEnding(once);
}

function withoutEnding(word: string): string {
  if (!LAST_LETTERS.includes(word.slice(-2))) return word;
  for (let length = Math.min(LONGEST_ENDING, word.length); length >= SHORTEST_ENDING; length--) {
    const replacement = ENDINGS.get(word.slice(-length));
    if (replacement === undefined) continue;
    const rest = word.slice(0, -length);
    return rest.length < MIN_REST + (length === 2 ? 1 : 0) || !hasVowel(rest) ? word : rest + replacement;
  }
  return word;
}

/** Ends that differ within a family after the cuts above: configur(e), quer(y), optimiz(e), plan(n). */
function withoutTail(word: string): string {
  if (word.endsWith("y") && word.length >= 4) return `${word.slice(0, -1)}i`;
  if (word.length < 5) return word;
  if (word.length > 5 && endsWithAny(word, ["ate", "ize", "ise"])) return word.slice(0, -3);
  return word.endsWith("e") ? word.slice(0, -1) : withoutDouble(word);
}

/** planning, stopped: the doubled letter goes, except those that words end in (call, pass, buzz). */
function withoutDouble(word: string): string {
  const last = word.at(-1)!;
  return last === word.at(-2) && !"aeioulsz".includes(last) ? word.slice(0, -1) : word;
}

function endsWithAny(word: string, endings: readonly string[]): boolean {
  return endings.some((ending) => word.endsWith(ending));
}

function hasVowel(word: string): boolean {
  for (const letter of word) if ("aeiouy".includes(letter)) return true;
  return false;
}

function isPlainWord(word: string): boolean {
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at);
    if (code < 97 || code > 122) return false;
  }
  return true;
}
