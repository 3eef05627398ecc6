/**
 * Worlds that exclude one another: a skill for .NET does not help with a Python service, though both say "REST API".
 * Words that live in several worlds are not listed. General knowledge, written by hand. Runs in the hook process.
 */
import { pairs, type Token } from "./tokenize.ts";

/** The worlds that a text speaks of: `language:dotnet`, `cloud:aws`. */
export function worldsOf(tokens: readonly Token[]): string[] {
  const worlds = new Set<string>();
  const add = (word: string) => {
    for (const world of WORLDS.get(word) ?? []) worlds.add(world);
  };
  for (const { text } of tokens) add(text);
  for (const { text } of pairs(tokens)) add(text);
  return [...worlds];
}

/** The given worlds and all others on their axes. */
export function rivalsOf(worlds: readonly string[]): string[] {
  return [...new Set(worlds.map(axisOf))].flatMap((axis) =>
    Object.keys(AXES[axis] ?? {}).map((world) => `${axis}:${world}`),
  );
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

/** Words as they are written, lower-cased. */
const AXES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  language: {
    dotnet:
      "dotnet,aspnet,csharp,fsharp,nuget,blazor,msbuild,xunit,nunit,wpf,winforms,winui,maui,roslyn,efcore,ef core,csproj",
    js: "javascript,typescript,js,ts,nodejs,npm,pnpm,yarn,eslint,jest,vitest,nextjs,expressjs,prisma,react,vue,angular,svelte,vite,webpack,deno,tailwind,redux,zustand,pinia",
    python: "python,pip,pytest,django,flask,fastapi,pandas,numpy,sqlalchemy,pydantic,scikit,pytorch,tensorflow",
    java: "java,maven,gradle,spring boot,junit,jvm,hibernate,groovy",
    kotlin: "kotlin,jetpack compose",
    go: "golang,gorm",
    rust: "rust,cargo,tokio,serde,axum,clippy",
    ruby: "ruby,rails,activerecord,rspec,sidekiq",
    php: "php,laravel,symfony,eloquent",
    swift: "swift,swiftui,xcode,uikit,cocoapods",
    dart: "dart,flutter,riverpod",
    elixir: "elixir,phoenix,erlang",
    cpp: "cpp,cmake",
    bash: "bash,zsh",
  },
  mobile: { ios: "ios,swiftui,xcode,testflight", android: "android,kotlin,gradle" },
  cloud: {
    aws: "aws,ec2,s3,fargate,ecs,eks,dynamodb,cloudformation,cloudfront",
    azure: "azure,aks,entra,bicep",
    gcp: "gcp,gke,bigquery,firestore",
    cloudflare: "cloudflare",
    vercel: "vercel",
    heroku: "heroku",
  },
  database: {
    mongodb: "mongodb,mongo,mongoose",
    postgresql: "postgresql,postgres",
    mysql: "mysql,mariadb",
    sqlserver: "mssql,sql server",
    redis: "redis",
    cassandra: "cassandra",
    dynamodb: "dynamodb",
  },
  ui: {
    react: "react,nextjs",
    vue: "vue,nuxt",
    angular: "angular",
    svelte: "svelte",
    blazor: "blazor",
    flutter: "flutter",
  },
  ci: { github: "github actions", gitlab: "gitlab", jenkins: "jenkins", circleci: "circleci" },
};

const WORLDS = new Map<string, string[]>();
for (const axis in AXES) {
  for (const world in AXES[axis]) {
    for (const word of AXES[axis]![world]!.split(",")) {
      const worlds = WORLDS.get(word);
      if (worlds) worlds.push(`${axis}:${world}`);
      else WORLDS.set(word, [`${axis}:${world}`]);
    }
  }
}
