/**
 * Languages, frameworks and tools that a skill may be for and a project may have. Used when skills are indexed; a prompt reads only what
 * was stored then. A skill for .NET seldom helps in a JavaScript project, although both share words such as "test" and "build".
 */
import { termOf, tokenize } from "./tokenize.ts";

interface Ecosystem {
  /** Words that name it, in skills and in prompts. */
  words: string;
  /** File name extensions. */
  extensions?: string;
  /** Names of manifest files; `*` at the start stands for any name. */
  manifests?: string;
  /** Packages that a manifest lists, for frameworks. */
  packages?: RegExp;
}

const ECOSYSTEMS: Readonly<Record<string, Ecosystem>> = {
  javascript: {
    words: "javascript typescript nodejs npm pnpm yarn deno bun eslint vite webpack jest vitest",
    extensions: "js mjs cjs jsx ts mts cts tsx vue svelte",
    manifests: "package.json deno.json",
  },
  dotnet: {
    words: "dotnet csharp fsharp nuget aspnet aspnetcore blazor maui efcore msbuild xunit nunit roslyn",
    extensions: "cs fs vb csproj fsproj razor cshtml",
    manifests: "*.csproj *.fsproj *.sln *.slnx Directory.Build.props",
  },
  python: {
    words: "python django flask fastapi pytest pandas numpy pydantic sqlalchemy",
    extensions: "py ipynb pyi",
    manifests: "pyproject.toml requirements.txt setup.py Pipfile",
  },
  go: { words: "golang", extensions: "go", manifests: "go.mod" },
  rust: { words: "rust cargo tokio", extensions: "rs", manifests: "Cargo.toml" },
  java: {
    words: "java kotlin spring springboot maven gradle junit quarkus hibernate",
    extensions: "java kt kts",
    manifests: "pom.xml build.gradle build.gradle.kts",
  },
  ruby: { words: "ruby rails rspec", extensions: "rb erb", manifests: "Gemfile" },
  php: { words: "php laravel symfony wordpress drupal", extensions: "php", manifests: "composer.json" },
  swift: { words: "swift swiftui uikit xcode", extensions: "swift", manifests: "Package.swift Podfile" },
  dart: { words: "dart flutter", extensions: "dart", manifests: "pubspec.yaml" },
  elixir: { words: "elixir phoenix erlang", extensions: "ex exs erl", manifests: "mix.exs" },
  terraform: { words: "terraform opentofu hcl", extensions: "tf tfvars" },
  react: { words: "react nextjs", packages: /"(?:react|next|preact)"\s*:/ },
  angular: { words: "angular", packages: /"@angular\/core"\s*:/ },
  vue: { words: "vuejs nuxt", packages: /"(?:vue|nuxt)"\s*:/ },
  svelte: { words: "svelte sveltekit", packages: /"(?:svelte|@sveltejs\/kit)"\s*:/ },
};

/** Stored with a skill: the technologies it is for, and the words that name them in a prompt. */
export interface Tie {
  of: readonly string[];
  words: readonly string[];
}

/** A skill that names more technologies than this is taken to be for everyone. */
const MOST_TIES = 2;

/**
 * The technologies a skill is for, from its name, else from its description. Undefined: for none in particular. A few words in a
 * long description are examples, but a description that speaks of one language is for that language.
 */
export function tieOf({ name, description }: { name: string; description: string }): Tie | undefined {
  const inName = ecosystemsIn(name);
  const of = inName.length > 0 ? inName : ecosystemsIn(description.slice(0, LONGEST));
  if (of.length === 0 || of.length > MOST_TIES) return undefined;
  return { of, words: of.flatMap((one) => termsOf(one)) };
}

const LONGEST = 2000;

function ecosystemsIn(text: string): string[] {
  const terms = new Set(tokenize(text).map(({ term }) => term));
  return Object.keys(ECOSYSTEMS).filter((one) => termsOf(one).some((term) => terms.has(term)));
}

function termsOf(ecosystem: string): string[] {
  let terms = knownTerms.get(ecosystem);
  if (!terms) knownTerms.set(ecosystem, (terms = ECOSYSTEMS[ecosystem]!.words.split(" ").map(termOf)));
  return terms;
}

const knownTerms = new Map<string, string[]>();

/** What a project has, from the names of its files. `read`: the text of a manifest; only package.json is asked for. */
export function ecosystemsOf(files: readonly string[], read: (file: string) => string | undefined): string[] {
  const names = files.map((file) => file.slice(file.lastIndexOf("/") + 1));
  const extensions = new Set(names.map((name) => name.slice(name.lastIndexOf(".") + 1).toLowerCase()));
  const packages = files.filter((file) => /(?:^|\/)package\.json$/.test(file)).map((file) => read(file) ?? "");
  return Object.entries(ECOSYSTEMS).flatMap(
    ([ecosystem, { extensions: own = "", manifests = "", packages: listed }]) => {
      const hasFile = own.split(" ").some((extension) => extensions.has(extension));
      const hasManifest = manifests
        .split(" ")
        .some((manifest) =>
          names.some((name) => (manifest[0] === "*" ? name.endsWith(manifest.slice(1)) : name === manifest)),
        );
      return hasFile || hasManifest || packages.some((text) => listed?.test(text)) ? [ecosystem] : [];
    },
  );
}

/** Extension → ecosystem, stored for prompts: files that a session touched or a prompt names. */
export function extensionTable(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(ECOSYSTEMS).flatMap(([ecosystem, { extensions = "" }]) =>
      extensions === "" ? [] : extensions.split(" ").map((extension) => [extension, ecosystem]),
    ),
  );
}
