/** The fixed words that `tokenize` knows: what to drop, what to write one way, what to leave whole. */
import { PackedMap, PackedSet } from "./packed-words.ts";

/** Names whose signs or spaces would be lost, and the words that stand for them. Order matters: ASP.NET before .NET. */
export interface SignedName {
  /** What a text holds, in any case, if the pattern matches it: asking costs a new process less than making a pattern. */
  holds: readonly string[];
  pattern: RegExp;
  name: string;
}

/** A text that one of them matches holds one of these, in lower case. */
export const NAME_SIGNS = ["#", "++", ".net", ".js", "/", "&", "request", "react", " go"];

/** A function: most prompts hold no such name, and do not have the list made. */
export const signedNames = (): readonly SignedName[] => [
  { holds: ["c#"], pattern: /\bc#/gi, name: " csharp " },
  { holds: ["f#"], pattern: /\bf#/gi, name: " fsharp " },
  { holds: ["c++"], pattern: /\bc\+\+/gi, name: " cpp " },
  { holds: ["asp.net"], pattern: /\basp\.net\b/gi, name: " aspnet dotnet " },
  { holds: [".net"], pattern: /(?<![\w/])\.net\b/gi, name: " dotnet " },
  // The language, not the verb: a capital inside a sentence.
  { holds: [" Go"], pattern: /(?<=[\w,] )Go\b(?! to\b)/g, name: " golang " },
  // The verb, not the library.
  { holds: ["react", " to"], pattern: /\breact(?:s|ed|ing)? to\b/g, name: " respond " },
  { holds: ["ci", "/", "cd"], pattern: /\bci ?\/ ?cd\b/gi, name: " cicd " },
  { holds: ["pub", "/", "sub"], pattern: /\bpub ?\/ ?sub\b/gi, name: " pubsub " },
  { holds: ["request", "pull"], pattern: /\bpull[- ]request(s?)\b/gi, name: " pr$1 " },
  { holds: ["request", "merge"], pattern: /\bmerge[- ]request(s?)\b/gi, name: " pr$1 " },
  // R&D, Q&A.
  { holds: ["&"], pattern: /(?<=[A-Z])&(?=[A-Z])/g, name: "" },
  {
    holds: [".js"],
    pattern: /\b(node|next|vue|nuxt|express|react|three|d3|chart|ember|backbone|alpine|nest|solid)\.js\b/gi,
    name: " $1js ",
  },
];

/** Written with a hump, but one word to everybody. */
export const ONE_NAME = new PackedSet(
  " github gitlab bitbucket javascript typescript graphql mongodb dynamodb postgresql mysql sqlite openai chatgpt devops " +
    "youtube linkedin wordpress rabbitmq webassembly powershell pytorch tensorflow cloudflare cloudformation clickhouse " +
    "websocket websockets nodejs nextjs openapi stackoverflow testflight xcode datadog pagerduty macos ",
);

/** One spelling for one thing, as terms: abbreviations that mean their long form in every field. */
export const ABBREVIATIONS = new PackedMap(
  " k8s:kubernetes db:databas dbs:databas repo:repositori repos:repositori js:javascript ts:typescript py:python " +
    "postgres:postgresql pg:postgresql mongo:mongodb env:environ envs:environ perf:perform prs:pr " +
    "spec:specific specs:specific app:applic apps:applic docs:doc param:paramet params:paramet impl:implement " +
    "deps:depend dep:depend vms:vm node:nodejs a11y:access i18n:internation l10n:local dir:directori dirs:directori " +
    "func:function funcs:function info:inform msg:messag netcore:dotnet cs:csharp tf:terraform llms:llm apis:api ",
);

export const STOP_WORDS = new PackedSet(
  " a an the this that these those it its itself i me my mine myself we us our ours you your yours he she his her they them " +
    "their there here who whom whose which what when where why how and or but nor so if then else than as at by for from in " +
    "into of off on onto out over per to up upon via with within without about above across after again against along among " +
    "around before behind below beneath beside between beyond down during except inside like near outside past since through " +
    "throughout till toward towards under until unlike is am are was were be been being do does did doing done has have had " +
    "having can could may might must shall should will would cannot can't don't doesn't didn't isn't aren't wasn't weren't " +
    "won't wouldn't shouldn't couldn't haven't hasn't let let's lets not no yes ok okay please thanks thank hi hello hey " +
    "just only also too very really quite rather even still already yet ever never always often sometimes maybe perhaps " +
    "all any both each few more most much many other others another some such own same several every either neither one two " +
    "three ones thing things stuff something anything everything nothing someone anyone everyone way ways lot lots bit " +
    "need needs needed want wants wanted help helps helping use uses used using make makes making made get gets getting got " +
    "give gives giving go goes going gone know knows try tries trying tried keep keeps keeping kept seem seems look looks " +
    "looking take takes taking come comes put puts able eg ie etc vs sure now today currently available im ive id dont " +
    "doesnt cant whats thats theres best good better well right proper properly whether whenever because while instead " +
    "however therefore according due plus new user users asks ask asked asking including includes include ",
);
