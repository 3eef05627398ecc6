import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryIndex } from "./memory-index.ts";
import { LEAST_CONFIDENCE, NAME_CONFIDENCE, RECOMMEND_CONFIDENCE, rankSkills } from "./score-text.ts";

const skill = (id: string, description: string, body = "") => ({ id, name: id, description, body, tags: [] });
const pool = [
  skill("pdf-forms", "Fill in PDF forms and extract their fields. Use when a PDF form must be completed."),
  skill("api-testing", "Write integration tests for HTTP APIs in .NET with xUnit. Use for endpoint tests."),
  skill("release-notes", "Write release notes and changelogs from merged changes. Use before publishing a version."),
  skill("commit", "Create commits with conventional messages."),
  skill(
    "query-tuning",
    "Make slow database queries fast with indexes.",
    "Look at the query plan. Missing indexes cost most.",
  ),
];
const index = memoryIndex(pool);
const rank = (prompt: string) => rankSkills(prompt, index);

describe("rankSkills", () => {
  it("puts the skill that speaks of the same matter first, and says by which words", () => {
    const [first] = rank("fill in this PDF form with the customer's data");
    expect(first).toMatchObject({ skill: "pdf-forms", named: false });
    expect(first!.confidence).toBeGreaterThanOrEqual(RECOMMEND_CONFIDENCE);
    expect(first!.evidence.map((entry) => entry.text)).toEqual(expect.arrayContaining(["pdf", "form"]));
    expect(first!.evidence.find((entry) => entry.text === "pdf")!.where).toEqual(["name", "description"]);
  });

  it.each([1, 3, 5])("finds it and abstains as well in a pool of %i", (size) => {
    const small = memoryIndex(pool.slice(0, size));
    expect(rankSkills("extract the fields of a PDF form", small)[0]!.confidence).toBeGreaterThanOrEqual(
      RECOMMEND_CONFIDENCE,
    );
    for (const prompt of ["continue", "run the tests again", "rename foo to bar", "write a poem about the sea"]) {
      for (const { confidence } of rankSkills(prompt, small)) expect(confidence).toBeLessThan(RECOMMEND_CONFIDENCE);
    }
  });

  describe("with short prompts", () => {
    const others = [
      skill("incident-review", "Write a blameless post-mortem after an outage. Use when an incident is over."),
      skill("terraform", "Author reusable Terraform modules for AWS."),
      skill("load-testing", "Run load tests with k6 and read the results."),
      skill("email-templates", "Build HTML email templates that render in Outlook and Gmail."),
      skill("cron-jobs", "Schedule recurring jobs and make them safe to run twice."),
      skill("oauth-login", "Implement OAuth and OpenID Connect login flows."),
      skill("css-layout", "Fix and design page layouts with CSS grid and flexbox."),
      skill("adr", "Record architecture decisions as short dated documents."),
      skill("dbt-models", "Create dbt models. Use when transforming warehouse data."),
      skill("app-icons", "Generate app icons and splash screens in every size."),
    ];
    // The names say nothing, so the description alone must be enough.
    const wanted = [
      skill("ops", "Deploy services to Kubernetes clusters with Helm. Use when deploying, scaling or rolling back."),
      skill("db", "Write safe schema migrations for Postgres. Use when adding or changing tables, columns or indexes."),
    ];
    const poolOf = (size: number) => memoryIndex([...wanted, ...others.slice(0, size - wanted.length)]);

    it.each([2, 3, 6, 12])("recommends what plainly fits in a pool of %i", (size) => {
      const [deploy] = rankSkills("deploy to kubernetes", poolOf(size));
      expect(deploy).toMatchObject({ skill: "ops" });
      expect(deploy!.confidence).toBeGreaterThanOrEqual(RECOMMEND_CONFIDENCE);
      const [migrate] = rankSkills("add a column to the users table", poolOf(size));
      expect(migrate).toMatchObject({ skill: "db" });
      expect(migrate!.confidence).toBeGreaterThanOrEqual(RECOMMEND_CONFIDENCE);
    });

    it.each([
      "continue",
      "commit this",
      "commit and push",
      "run the tests again",
      "git status",
      "fix the failing test",
    ])("stays silent at %s", (prompt) => {
      for (const size of [2, 6, 12]) {
        for (const { confidence } of rankSkills(prompt, poolOf(size)))
          expect(confidence).toBeLessThan(RECOMMEND_CONFIDENCE);
      }
    });

    it("is not silent at a search, which asks for a skill whatever its words are", () => {
      const [asked] = rankSkills("show the rollback", poolOf(12), { isSearch: true });
      const [typed] = rankSkills("show the rollback", poolOf(12));
      expect(asked).toMatchObject({ skill: "ops" });
      expect(asked!.confidence).toBeGreaterThan(10 * typed!.confidence);
    });

    describe("and names of one word", () => {
      const named = [
        skill("billing", "Trials, proration and refunds."),
        skill("pagination", "Cursors and page sizes for our lists."),
        skill("deploy", "Ship a build to staging or production."),
        skill("review", "Read a branch for naming and missing tests. Use when asked to review a branch."),
        skill("plan", "Cut a feature into tasks of half a day."),
        skill("release", "Tag a version and announce it."),
        skill("test", "How we name test cases."),
        skill("house-style", "Wording, quotes and dates in what customers read. Ask before you touch a headline."),
      ];
      const poolOf = (size: number) => memoryIndex([...named, ...others, ...wanted].slice(0, size));

      it.each([8, 12, 20])("recommends the skill whose name the prompt says, in a pool of %i", (size) => {
        const shown = (prompt: string) =>
          rankSkills(prompt, poolOf(size), { limit: 3 })
            .filter(({ confidence }) => confidence >= RECOMMEND_CONFIDENCE)
            .map((entry) => entry.skill);
        for (const [prompt, id] of [
          ["billing", "billing"],
          ["add pagination to the orders page", "pagination"],
          ["deploy to production", "deploy"],
          ["deploy", "deploy"],
          ["can you deploy this?", "deploy"],
          ["review my branch", "review"],
        ] as const) {
          expect([prompt, shown(prompt)]).toEqual([prompt, expect.arrayContaining([id])]);
        }
        // "Fix" is also in another skill's description, so this skill gets at least a name.
        const [first] = rankSkills("fix the billing", poolOf(size));
        expect(first).toMatchObject({ skill: "billing" });
        expect(first!.confidence).toBeGreaterThanOrEqual(NAME_CONFIDENCE);
      });

      it.each([
        "what's the plan",
        "that plan looks fine",
        "deploy is broken again",
        "release the lock before returning",
        "test it by hand",
        "test this",
        "use single quotes",
        "don't touch the tests",
      ])("takes an ordinary word in ordinary use for no request: %s", (prompt) => {
        for (const size of [8, 12, 20]) {
          for (const { confidence } of rankSkills(prompt, poolOf(size)))
            expect(confidence).toBeLessThan(RECOMMEND_CONFIDENCE);
        }
      });

      it("has more doubt the more of the prompt a skill does not hold", () => {
        const confidence = (prompt: string) => rankSkills(prompt, poolOf(12))[0]!.confidence;
        expect(confidence("billing for the walrus")).toBeLessThan(confidence("fix the billing"));
        expect(confidence("billing for the walrus and the umbrella")).toBeLessThan(
          confidence("billing for the walrus"),
        );
      });
    });

    describe("that share a word with a skill", () => {
      const small = memoryIndex([
        skill("docker-images", "Build small, safe Docker images. Use when writing a Dockerfile."),
        skill("release-notes", "Turn merged commits into release notes or a changelog entry."),
        skill("invoice-matching", "Match bank payments to supplier invoices."),
        skill("flaky-tests", "Find out why a test fails only sometimes, and fix it."),
      ]);
      const shown = (prompt: string) =>
        rankSkills(prompt, small)
          .filter(({ confidence }) => confidence >= NAME_CONFIDENCE)
          .map((entry) => entry.skill);

      it.each([
        "the image on the landing page is too large",
        "release the lock before the return",
        "run only the failing tests",
        "yes, go on",
        "now the same for the other file",
        "nice, that reads well",
        "update the page and the tests",
      ])("shows nothing for %s, not even beside a skill that a rule shows", (prompt) => {
        for (const { confidence } of rankSkills(prompt, small)) expect(confidence).toBeLessThan(LEAST_CONFIDENCE);
      });

      it.each([
        ["make the docker image smaller", "docker-images"],
        ["which payments have no invoice", "invoice-matching"],
        ["write the changelog entry", "release-notes"],
        ["this test fails only sometimes", "flaky-tests"],
      ])("shows the skill if two words say so: %s", (prompt, id) => {
        expect(shown(prompt)).toContain(id);
      });

      it("takes a word that is only spelled alike for no evidence", () => {
        const schema = memoryIndex([
          skill("db-migrations", "Change the schema of the database. Use when a table changes."),
          skill("docker-images", "Build small, safe Docker images."),
        ]);
        for (const { confidence } of rankSkills("write the changelog", schema))
          expect(confidence).toBeLessThan(NAME_CONFIDENCE);
        expect(rankSkills("the dokcer images", schema)[0]).toMatchObject({ skill: "docker-images" });
      });

      it("counts what a long prompt says that the skill lacks", () => {
        const asked = "our docker image must be smaller";
        const about = "the login form of the settings screen loses its password field in dark mode on a narrow phone";
        expect(shown(asked)).toContain("docker-images");
        expect(shown(`${about}, and the docker logo above it has the wrong colour in the footer of the page`)).toEqual(
          [],
        );
      });
    });

    it("takes one shared word, however often a skill repeats it, for no proof", () => {
      const push = memoryIndex([
        skill("push-notifications", "Push notifications: send a push, debug a push.", "Push tokens. Push topics."),
      ]);
      for (const prompt of ["push it", "push the button", "push the release forward"])
        expect(rankSkills(prompt, push)[0]!.confidence).toBeLessThan(RECOMMEND_CONFIDENCE);
    });
  });

  it("is almost sure when the prompt calls a skill by name, and then shows no other by its words", () => {
    const ranked = rank("use the release-notes skill, then test the endpoint with xunit");
    expect(ranked[0]).toMatchObject({ skill: "release-notes", named: true, confidence: 0.99 });
    for (const other of ranked.slice(1)) expect(other.confidence).toBeLessThan(RECOMMEND_CONFIDENCE);
  });

  it("does not take a plain word for a call by name", () => {
    for (const entry of rank("commit this")) expect(entry.named).toBe(false);
  });

  it("grows more confident with more evidence", () => {
    const confidence = (prompt: string) =>
      rank(prompt).find((entry) => entry.skill === "query-tuning")?.confidence ?? 0;
    const weak = confidence("improve my slow page");
    const strong = confidence("improve my slow database queries, which indexes are missing?");
    expect(strong).toBeGreaterThan(weak);
  });

  it("counts common words too, however many skills hold them", () => {
    const many = memoryIndex([
      ...Array.from({ length: 2000 }, (_, at) => skill(`filler-${at}`, "Write tests for services.")),
      skill("wanted", "Write tests for kumquats."),
    ]);
    const [first] = rankSkills("write tests for my kumquats", many);
    expect(first!.skill).toBe("wanted");
    expect(first!.evidence.map((entry) => entry.text)).toContain("tests");
  });

  it("finds a misspelled word by its letters, and says so", () => {
    const [first] = rank("exctract the feilds of a PDF fomr");
    expect(first).toMatchObject({ skill: "pdf-forms" });
    const cluster = memoryIndex([...pool, skill("kubernetes-rollout", "Roll out services to Kubernetes clusters.")]);
    const [typo] = rankSkills("roll out to kuberntes", cluster);
    expect(typo).toMatchObject({ skill: "kubernetes-rollout" });
    expect(typo!.evidence).toContainEqual(expect.objectContaining({ text: "kuberntes", kind: "similar" }));
  });

  it("tells two skills apart that differ by a version number", () => {
    const versions = memoryIndex([
      skill("angular-17", "Upgrade an application to Angular 17."),
      skill("angular-18", "Upgrade an application to Angular 18."),
    ]);
    expect(rankSkills("upgrade our app to Angular 18", versions)[0]!.skill).toBe("angular-18");
    expect(rankSkills("upgrade our app to angular 17", versions)[0]!.skill).toBe("angular-17");
  });

  it("does not let a skill win by repeating a word", () => {
    const stuffed = memoryIndex([
      ...pool,
      skill("stuffed", "Various helpers.", "pdf form fields ".repeat(100_000)),
      skill("stuffed-too", "pdf form ".repeat(400), ""),
    ]);
    expect(rankSkills("extract the fields of a PDF form", stuffed)[0]!.skill).toBe("pdf-forms");
  });

  it("takes no confidence from a skill because one that is hidden from models fits as well", () => {
    const twins = memoryIndex([...pool, skill("pdf-people", "Fill in PDF forms and extract their fields, by hand.")]);
    const prompt = "extract the fields of a PDF form";
    const confidence = (hidden: string[]) =>
      rankSkills(prompt, twins, { hidden: () => new Set(hidden) }).find((entry) => entry.skill === "pdf-forms")!
        .confidence;
    expect(confidence(["pdf-people"])).toBeGreaterThan(confidence([]));
  });

  it("is sure of none of many skills that are all alike", () => {
    const alike = memoryIndex(
      Array.from({ length: 12 }, (_, at) => skill(`copy-${at}`, "Fill in PDF forms and extract fields.")),
    );
    const ranked = rankSkills("fill in this PDF form", alike);
    expect(new Set(ranked.map(({ confidence }) => confidence)).size).toBe(1);
    expect(ranked.length).toBe(10);
  });

  it("means the same by a confidence in a pool of 3 and of 300", () => {
    const fillers = Array.from({ length: 297 }, (_, at) =>
      skill(`zebra-${at.toString(36)}`, `Count the stripes of zebra number ${at.toString(36)}${at}.`),
    );
    const small = memoryIndex(pool.slice(0, 3));
    const large = memoryIndex([...pool.slice(0, 3), ...fillers]);
    for (const prompt of ["extract the fields of a PDF form", "write release notes for the merged changes"]) {
      const [few] = rankSkills(prompt, small);
      const [many] = rankSkills(prompt, large);
      expect(many!.skill).toBe(few!.skill);
      expect(Math.abs(many!.confidence - few!.confidence)).toBeLessThan(0.15);
    }
  });

  it.each(["show this file", "push it", "run only the last test again"])(
    "takes everyday words for no request, even where one skill is all there is: %s",
    (prompt) => {
      const one = memoryIndex([skill("file-mover", "Move files, run tests, push changes to another project.")]);
      for (const { confidence } of rankSkills(prompt, one)) expect(confidence).toBeLessThan(NAME_CONFIDENCE);
    },
  );

  it("survives what is no text: a megabyte of it, bytes, other scripts", () => {
    expect(rank(`fill in this PDF form\n${"0123456789abcdef ".repeat(60_000)}`)[0]!.skill).toBe("pdf-forms");
    expect(() => rank("\u0000\uffff\ud800".repeat(1000))).not.toThrow();
    expect(rank("请填写这个 PDF 表单 form")[0]!.skill).toBe("pdf-forms");
  });

  it("gives nothing for an empty prompt or an empty pool", () => {
    expect(rank("")).toEqual([]);
    expect(rank("please help me with this")).toEqual([]);
    expect(rankSkills("fill in a form", memoryIndex([]))).toEqual([]);
  });

  it("stays within 0..1, in order and finite, whatever the prompt", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.lorem({ maxCount: 30 })), (prompt) => {
        const ranked = rank(`${prompt} pdf form`);
        for (const { confidence } of ranked) expect(confidence >= 0 && confidence <= 1).toBe(true);
        for (let at = 1; at < ranked.length; at++)
          expect(ranked[at - 1]!.confidence).toBeGreaterThanOrEqual(ranked[at]!.confidence);
      }),
    );
  });
});

it("takes one telling word for enough, when one skill alone has it and the prompt is short", () => {
  const pool = memoryIndex(
    ["helm", "pdf", "sql"].map((id) => ({
      id,
      name: `${id}-work`,
      description: id === "helm" ? "Use when writing Kustomization overlays." : "Use when working with files.",
      body: "",
      tags: [],
    })),
  );
  const [best] = rankSkills("write a kustomization for this", pool);
  expect(best).toMatchObject({ skill: "helm" });
  expect(best?.confidence).toBeGreaterThanOrEqual(RECOMMEND_CONFIDENCE);
  expect(rankSkills("write a file for this", pool)[0]?.confidence ?? 0).toBeLessThan(RECOMMEND_CONFIDENCE);
});
