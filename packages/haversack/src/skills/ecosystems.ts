/**
 * Worlds that exclude one another: a skill for .NET does not help with a Python service, though both say "REST API".
 * Words that live in several worlds are not listed. General knowledge, written by hand.
 */
import { MANY_QUESTIONS } from "./packed-words.ts";
import type { Token } from "./token.ts";
import { pairs } from "./tokenize.ts";

/** The worlds that a text speaks of: `language:dotnet`, `cloud:aws`. */
export function worldsOf(tokens: readonly Token[], neighbours: readonly { text: string }[] = pairs(tokens)): string[] {
  const worlds: string[] = [];
  const add = (word: string) => {
    for (const world of worldsOfWord(word)) if (!worlds.includes(world)) worlds.push(world);
  };
  for (const { text } of tokens) add(text);
  for (const { text } of neighbours) add(text);
  return worlds;
}

/** The given worlds and all others on their axes. */
export function rivalsOf(worlds: readonly string[]): string[] {
  if (worlds.length === 0) return [];
  const all = Array.from(WORLDS.matchAll(/^[^,\n]+/gm), ([world]) => world);
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

const NONE: readonly string[] = [];
let asked = 0;
let known: Map<string, string[]> | undefined;

/** Found by a search, like the lists of packed-words.ts: most prompts are shorter than the table. */
function worldsOfWord(word: string): readonly string[] {
  if (known) return known.get(word) ?? NONE;
  if (++asked > MANY_QUESTIONS) known = wordsByWorld();
  let found: string[] | undefined;
  const wanted = `,${word},`;
  for (let at = WORLDS.indexOf(wanted); at >= 0; at = WORLDS.indexOf(wanted, at + 1)) {
    const start = WORLDS.lastIndexOf("\n", at) + 1;
    found ??= [];
    found.push(WORLDS.slice(start, WORLDS.indexOf(",", start)));
  }
  return found ?? NONE;
}

function wordsByWorld(): Map<string, string[]> {
  const byWord = new Map<string, string[]>();
  for (const line of WORLDS.trim().split("\n")) {
    const [world = "", ...words] = line.slice(0, -1).split(",");
    for (const word of words) byWord.set(word, [...(byWord.get(word) ?? []), world]);
  }
  return byWord;
}

/** A world a line, its axis before the colon, then its words as they are written, lower-cased; a comma after each. */
const WORLDS = `
language:dotnet,dotnet,aspnet,csharp,fsharp,nuget,blazor,msbuild,xunit,nunit,wpf,winforms,winui,maui,roslyn,efcore,ef core,csproj,
language:js,javascript,typescript,js,ts,nodejs,npm,pnpm,yarn,eslint,jest,vitest,nextjs,expressjs,prisma,react,vue,angular,svelte,vite,webpack,deno,tailwind,redux,zustand,pinia,
language:python,python,pip,pytest,django,flask,fastapi,pandas,numpy,sqlalchemy,pydantic,scikit,pytorch,tensorflow,
language:java,java,maven,gradle,spring boot,junit,jvm,hibernate,groovy,
language:kotlin,kotlin,jetpack compose,
language:go,golang,gorm,
language:rust,rust,cargo,tokio,serde,axum,clippy,
language:ruby,ruby,rails,activerecord,rspec,sidekiq,
language:php,php,laravel,symfony,eloquent,
language:swift,swift,swiftui,xcode,uikit,cocoapods,
language:dart,dart,flutter,riverpod,
language:elixir,elixir,phoenix,erlang,
language:cpp,cpp,cmake,
language:bash,bash,zsh,
mobile:ios,ios,swiftui,xcode,testflight,
mobile:android,android,kotlin,gradle,
cloud:aws,aws,ec2,s3,fargate,ecs,eks,dynamodb,cloudformation,cloudfront,
cloud:azure,azure,aks,entra,bicep,
cloud:gcp,gcp,gke,bigquery,firestore,
cloud:cloudflare,cloudflare,
cloud:vercel,vercel,
cloud:heroku,heroku,
database:mongodb,mongodb,mongo,mongoose,
database:postgresql,postgresql,postgres,
database:mysql,mysql,mariadb,
database:sqlserver,mssql,sql server,
database:redis,redis,
database:cassandra,cassandra,
database:dynamodb,dynamodb,
ui:react,react,nextjs,
ui:vue,vue,nuxt,
ui:angular,angular,
ui:svelte,svelte,
ui:blazor,blazor,
ui:flutter,flutter,
ci:github,github actions,
ci:gitlab,gitlab,
ci:jenkins,jenkins,
ci:circleci,circleci,
`;
