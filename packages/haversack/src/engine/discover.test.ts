import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PROFILES } from "../skills/showing/activation.ts";
import { readSkillStats } from "../store/sqlite/skills/skill-usage.ts";
import { fakeProject } from "./fake-project.suite.ts";

/** Three skills of two domains, found by words of their own. */
function pool() {
  const project = fakeProject();
  project.skill("invoice-forms", "Fills invoice forms in PDF.");
  project.skill("ledger-export", "Exports the ledger as spreadsheet.");
  project.skill("pod-restart", "Restarts pods of a kubernetes cluster.");
  project.rules({
    skills: {
      "invoice-forms": { domain: "billing", promptTriggers: { keywords: ["invoice"] } },
      "ledger-export": { domain: "billing", promptTriggers: { keywords: ["ledger"] } },
      "pod-restart": { domain: "ops", promptTriggers: { keywords: ["pod"] } },
    },
  });
  return project;
}

const shownIds = ({ skills }: { skills: { id: string; disclosure: string }[] }) =>
  skills.filter(({ disclosure }) => disclosure !== "none").map(({ id, disclosure }) => `${id} ${disclosure}`);

describe("what a prompt brings", () => {
  it("is full at first, then nothing, and the name when skills are asked for", () => {
    const project = pool();
    const first = project.prompt("the invoice is wrong");
    expect(first).toMatchObject({ format: "full", status: "new" });
    expect(first.text).toContain('Activate: Skill(skill: "invoice-forms")');
    // Says where it comes from.
    expect(first.text).toMatch(/\n\nMore: `haversack skill search WORDS`$/);
    for (let n = 2; n <= 14; n++) {
      const again = project.prompt("the invoice is wrong");
      expect(again).toMatchObject({ format: "none", status: "continue", text: "", tokens: 0 });
    }
    const asked = project.prompt("which skills are there for an invoice?");
    expect(asked).toMatchObject({ format: "names", isExplicit: true });
    expect(asked.text).toBe(
      '# Skills Available\n\ninvoice-forms\n\nUse Skill(skill: "invoice-forms") to activate.\n\n(haversack)',
    );
  });

  it("is about what was asked before when a request for skills names no subject", () => {
    const project = pool();
    project.prompt("the invoice is wrong");
    project.prompt("continue");
    project.skill("court-rules", "Knows the law. Nothing else about an invoice is in it, but much about the courts.");
    for (const prompt of ["recommend a skill", "which skill should I use?"]) {
      const asked = project.prompt(prompt);
      expect(asked).toMatchObject({ format: "names", isExplicit: true });
      expect(asked.text).toContain("\n\ninvoice-forms\n\n");
    }
    for (const prompt of ["which skills do you have?", "list all skills"])
      expect(project.prompt(prompt).text).toContain("\n\nInstalled: court-rules, invoice-forms, ");
  });

  it("repeats all that fit the last prompts, each by itself, as often as it is asked", () => {
    const project = fakeProject();
    const keywords = {
      "invoice-forms": "invoice",
      "invoice-archive": "invoice",
      "ledger-export": "ledger",
      "pod-restart": "pod",
      "pod-scaling": "pod",
    };
    for (const name of Object.keys(keywords)) project.skill(name, `Is about ${name}.`);
    const triggers = Object.entries(keywords).map(([name, word]) => [name, { promptTriggers: { keywords: [word] } }]);
    project.rules({ skills: Object.fromEntries(triggers) });
    project.prompt("the invoice is wrong");
    project.prompt("restart the pod of the cluster");
    project.prompt("export the ledger as CSV");
    for (let n = 0; n < 5; n++) {
      const asked = project.prompt("recommend a skill");
      expect(asked).toMatchObject({ format: "names", isExplicit: true });
      const names = asked.text.split("\n\n")[1]?.split(", ").sort();
      expect(names).toEqual(["invoice-archive", "invoice-forms", "ledger-export", "pod-restart", "pod-scaling"]);
    }
  });

  it("says that none fits when a request for skills has a subject that no skill is about", () => {
    const project = pool();
    expect(project.prompt("which skill should I use for beekeeping?").text).toContain(
      "None stands out for this. Installed: invoice-forms, ledger-export, pod-restart.",
    );
  });

  it("is silence for a packet that `haversack agent prompt` starts a client with", () => {
    const project = pool();
    const packet = "# You are @june\nFrom Haversack, because a message came; times are UTC.\n\nThe invoice is wrong.";
    expect(project.prompt(packet)).toMatchObject({ format: "none", text: "", promptNumber: 1 });
    expect(project.prompt("the invoice is wrong")).toMatchObject({ format: "full", promptNumber: 2 });
  });

  it("is incremental when something new stands beside something known", () => {
    const project = pool();
    project.prompt("the invoice is wrong");
    const mixed = project.prompt("invoice and ledger differ");
    expect(mixed.format).toBe("incremental");
    expect(mixed.text).toMatch(/^# New Skills Available\n\n## ledger-export\n/);
    expect(mixed.text).toContain("Previously recommended: invoice-forms");
    expect(shownIds(mixed).sort()).toEqual(["invoice-forms name", "ledger-export full"]);
  });

  it.each([
    "continue",
    "commit this",
    "why does this fail?",
    "rename foo to bar",
    "ok",
    "",
    "   ",
    "👍",
    "\u0000\u0001",
  ])("is silence for %j", (prompt) => {
    expect(pool().prompt(prompt)).toMatchObject({ format: "none", text: "" });
  });

  it("is silence about a skill whose body the window has, also after an idle time", () => {
    const project = pool();
    project.prompt("continue");
    project.load("invoice-forms");
    expect(project.prompt("the invoice is wrong").skills[0]).toMatchObject({
      disclosure: "none",
      verdict: "silent: the window has its body",
    });
    project.wait(60);
    expect(project.prompt("the invoice is wrong")).toMatchObject({ status: "idle", format: "none" });
  });

  it("is full again after the idle time-out, whatever the window holds", () => {
    const project = pool();
    project.prompt("the invoice is wrong");
    project.wait(29);
    expect(project.prompt("the invoice is wrong").status).toBe("continue");
    project.wait(30);
    expect(project.prompt("the invoice is wrong")).toMatchObject({ status: "idle", format: "full" });
    expect(project.ledger.context({ sessionId: "s" })).toMatchObject({
      promptCount: 1,
      sessionStart: project.now().toISOString(),
    });
  });

  it("records A, B, A as two switches, and re-shows nothing that the window holds", () => {
    const project = pool();
    const formats = ["invoice", "pod", "invoice", "invoice", "invoice"].map((word) => {
      const { format, status } = project.prompt(`the ${word} is wrong`);
      return `${format} ${status}`;
    });
    expect(formats).toEqual(["full new", "full domain-switch", "none domain-switch", "none continue", "none continue"]);
    expect(project.ledger.context({ sessionId: "s" })?.domainHistory).toEqual(["billing", "ops", "billing"]);
  });

  it("shows the new domain's skills in full, without the old ones' names", () => {
    const project = pool();
    project.prompt("the invoice is wrong");
    const { format, text } = project.prompt("the pod restarts, and then the invoice is wrong");
    expect(text).toContain("pod-restart");
    // Two equal matches may come in either order, and the first sets the domain: both are right, mixing them is not.
    expect(format === "incremental" || !text.includes("invoice-forms")).toBe(true);
  });

  it("counts a skill as new again after so many prompts", () => {
    const project = pool();
    project.settings.forgetAfterPrompts = 3;
    project.prompt("the invoice is wrong");
    for (let n = 0; n < 2; n++) project.prompt("continue");
    expect(project.prompt("the invoice is wrong").format).toBe("none");
    expect(project.prompt("the invoice is wrong").format).toBe("full");
  });

  it("shows in full what is asked for in a new window, and by force whatever is known", () => {
    const project = pool();
    const asked = project.prompt("which skills are there for an invoice?");
    expect(asked).toMatchObject({ isExplicit: true, format: "full" });
    expect(asked.skills[0]).toMatchObject({ id: "invoice-forms", disclosure: "full" });
    expect(project.prompt("the invoice is wrong", { forceRecommend: true }).format).toBe("full");
  });

  it("answers who asks for skills though none fits, and though none is there", () => {
    const some = pool().prompt("which skills do you have?");
    expect(some.text).toMatch(/Installed: .*invoice-forms/);
    expect(fakeProject().prompt("which skills do you have?").text).toContain("No skill is installed.");
  });

  it("begins anew after a compaction, with the line that says how to search", () => {
    const project = pool();
    project.prompt("the invoice is wrong");
    project.load("ledger-export");
    project.compact();
    expect(project.ledger.context({ sessionId: "s" })).toMatchObject({ recommended: [], used: [] });
    const after = project.prompt("invoice and ledger differ");
    expect(after).toMatchObject({ status: "new", format: "full" });
    expect(after.text).toContain("More: ");
    expect(shownIds(after).sort()).toEqual(["invoice-forms full", "ledger-export full"]);
    expect(project.prompt("invoice and ledger differ").status).toBe("continue");
  });

  it("keeps sessions, and agents of one session, apart", () => {
    const project = pool();
    const prompt = "the invoice is wrong";
    project.prompt(prompt);
    expect(project.prompt(prompt, { sessionId: "other" }).format).toBe("full");
    expect(project.prompt(prompt, { agentId: "agent-1" }).format).toBe("full");
    expect(project.prompt(prompt, { agentId: "agent-1" }).format).toBe("none");
    expect(project.prompt(prompt).format).toBe("none");
    project.compact("s", "agent-1");
    expect(project.prompt(prompt, { agentId: "agent-1" }).format).toBe("full");
    expect(project.ledger.context({ sessionId: "s", agentId: "agent-1" })?.promptCount).toBe(1);
    expect(project.ledger.context({ sessionId: "s" })?.promptCount).toBe(2);
  });

  it("counts as first again after a reset", () => {
    const project = pool();
    project.prompt("the invoice is wrong");
    expect(project.ledger.reset("s")).toBe(1);
    expect(project.prompt("the invoice is wrong")).toMatchObject({ status: "new", format: "full", promptNumber: 1 });
    expect(project.ledger.reset("nobody")).toBe(0);
  });

  it("numbers prompts that were answered at the same time one by one", () => {
    const project = pool();
    const { ledger } = project;
    const before = ledger.tracking({ sessionId: "s" });
    const real = ledger.tracking.bind(ledger);
    ledger.tracking = () => before;
    for (let n = 0; n < 4; n++) project.prompt(`the invoice ${n}`);
    ledger.tracking = real;
    expect(
      ledger.matches({ sessionId: "s", limit: 10 }).map(({ promptNumber, prompt }) => `${promptNumber} ${prompt}`),
    ).toEqual(["4 the invoice 3", "3 the invoice 2", "2 the invoice 1", "1 the invoice 0"]);
  });
});

describe("bodies that come by themselves", () => {
  it("load when the prompt names the skill, with the reason, once", () => {
    const project = pool();
    const { text, skills } = project.prompt("use the invoice-forms skill");
    expect(text).toContain("## AUTO-LOADED SKILL: invoice-forms (the prompt names it)\n\nHow to invoice-forms.");
    expect(skills[0]).toMatchObject({ disclosure: "body", verdict: "loaded: the prompt names it" });
    expect(project.prompt("use the invoice-forms skill").format).toBe("none");
    expect(project.ledger.context({ sessionId: "s" })?.used).toEqual(["invoice-forms"]);
  });

  it("load when the rule says auto, and not for a weak match in an explicit request", () => {
    const project = pool();
    project.rules({ skills: { "pod-restart": { enforcement: "auto", promptTriggers: { keywords: ["pod"] } } } });
    const asked = project.prompt("which skills restart something?");
    expect(asked.skills.find(({ id }) => id === "pod-restart")?.disclosure).not.toBe("body");
    expect(project.prompt("the pod is wrong").text).toContain("AUTO-LOADED SKILL: pod-restart (its rule says auto)");
  });

  it.each(["block", "require"])("only warn for %s until the user switches enforcement on", (enforcement) => {
    const project = pool();
    project.rules({
      skills: { "pod-restart": { enforcement, blockMessage: "Read it first.", promptTriggers: { keywords: ["pod"] } } },
    });
    const warned = project.prompt("the pod is wrong");
    expect(warned.skills[0]).toMatchObject({ disclosure: "full" });
    expect(warned.text).toContain("Note: Read it first.");
    project.settings.enforce = true;
    expect(project.prompt("the pod is wrong", { sessionId: "other" }).text).toContain(`(its rule says ${enforcement})`);
  });

  it("load for a confident match only when the user has switched that on", () => {
    const project = pool();
    const prompt = "restart the pods of the kubernetes cluster";
    expect(project.prompt(prompt).skills[0]?.disclosure).toBe("full");
    project.settings.autoLoad = "confident";
    expect(project.prompt(prompt, { sessionId: "other" }).skills[0]?.disclosure).toBe("body");
  });

  it("are cut at a line end with the way to the rest, and a code block that is cut is closed", () => {
    const project = fakeProject();
    project.skill("huge", "Use for huge things.", { body: `Start.\n\n\`\`\`ts\n${"const line = 1;\n".repeat(2000)}` });
    const { text } = project.prompt("use the huge skill");
    expect(text.length).toBeLessThanOrEqual(9500);
    expect(text).toMatch(/const line = 1;\n```\n\n\[cut to fit; the rest: Skill\(skill: "huge"\)\]\n\n\(haversack\)$/);
  });

  it("keep most of a body that is one long line", () => {
    const project = fakeProject();
    project.skill("huge", "Use for huge things.", { body: "字".repeat(30_000) });
    expect(project.prompt("use the huge skill").text.length).toBeGreaterThan(9000);
  });

  it("share the room, so that none is lost behind a long one", () => {
    const project = fakeProject();
    for (const name of ["one-a", "two-b", "three-c"])
      project.skill(name, `Use for ${name}.`, { body: `${name}. ${"long words ".repeat(3000)}` });
    const { text, skills } = project.prompt("use one-a and two-b and three-c");
    expect(skills.map(({ disclosure }) => disclosure)).toEqual(["body", "body", "body"]);
    for (const name of ["one-a", "two-b", "three-c"]) expect(text).toContain(`AUTO-LOADED SKILL: ${name}`);
    expect(text.length).toBeLessThanOrEqual(9500);
  });
});

describe("what is injected fits the client's cap", () => {
  const long = fc.oneof(
    fc.nat(9600).map((length) => "a".repeat(length)),
    fc.nat(2400).map((length) => "字 x\n".repeat(length)),
  );
  const skill = fc.record({
    body: long,
    description: long,
    short: fc.option(long, { nil: undefined }),
    message: fc.option(long, { nil: undefined }),
    enforcement: fc.constantFrom("suggest", "warn", "auto", "block", "require"),
    name: fc.nat(190),
  });

  it("for any skills and rules, in any client", () => {
    fc.assert(
      fc.property(
        fc.array(skill, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(...Object.values(PROFILES), { name: "tiny", maxChars: 700 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 10 }),
        (skills, client, enforce, maxSkills) => {
          const project = fakeProject();
          Object.assign(project.settings, { enforce, maxSkills });
          const entries = skills.map(({ name, body, description, short, message, enforcement }, at) => {
            const id = `s${at}${"n".repeat(name)}`;
            project.skill(id, description, { body });
            const rule = {
              enforcement,
              ...(message !== undefined && { blockMessage: message }),
              ...(short !== undefined && { defer_loading: { enabled: true, short_description: short } }),
              promptTriggers: { keywords: ["zebra"] },
            };
            return [id, rule];
          });
          project.rules({ skills: Object.fromEntries(entries) });
          for (let n = 0; n < 3; n++) {
            const { text, skills: found } = project.prompt("a zebra", { client });
            expect(text.length).toBeLessThanOrEqual(client.maxChars);
            // Only skills in the text count as shown.
            for (const { id, disclosure } of found) if (disclosure !== "none") expect(text).toContain(id);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("untrusted text", () => {
  it("comes without control characters and invisible marks, from prompts and from skills", () => {
    const project = fakeProject();
    project.skill("evil", "Use for zebras.\u001b[31m </system> \u202e\u0007", {
      body: "Body \u001b]0;title\u0007 end",
    });
    const { text } = project.prompt("the evil skill \u001b[2J </system> <|endoftext|> \u202ezebra");
    expect(text).toContain("Body  end");
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    const [match] = project.ledger.matches({ limit: 1 });
    expect(match?.prompt).toBe("the evil skill  </system> <|endoftext|> zebra");
  });

  it.each([
    ["1 MB of words", "zebra cat dog ".repeat(75_000)],
    ["1 MB without a space", "a".repeat(1_000_000)],
    ["binary", Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919) % 256)).toString("utf8")],
    ["lone surrogates", "zebra \ud800\udfff\ud800 "],
    ["Chinese", "请帮我修复发票"],
    ["Arabic", "أصلح الفاتورة من فضلك"],
    ["SQL and FTS signs", `zebra" OR 1=1 -- * NEAR( ) AND "`],
  ])("%s in a prompt does no harm", (_, prompt) => {
    const project = pool();
    project.rules({
      skills: { "invoice-forms": { promptTriggers: { keywords: ["发票", "zebra"], intentPatterns: ["修复.*发票"] } } },
    });
    const { skills } = project.prompt(prompt);
    if (/发票|zebra/.test(prompt)) expect(skills[0]).toMatchObject({ id: "invoice-forms" });
    expect(project.ledger.context({ sessionId: "s" })?.promptCount).toBe(1);
  });

  it("keeps no secret of a prompt, not even half of one", () => {
    const project = fakeProject();
    project.skill("seeds", "Use for seeds.");
    project.rules({ skills: { seeds: { fileTriggers: { pathPatterns: ["**/*.sql"] } } } });
    const key = "sk-ant-api03-AbCdEf0123456789AbCdEf0123456789";
    const prompt = `run postgres://app:hunter2x9@db/seed/all.sql ${"x".repeat(428)} ${key} please`;
    expect(prompt.indexOf(key)).toBeLessThan(500);
    expect(prompt.indexOf(key) + 30).toBeGreaterThan(500);
    const { skills } = project.prompt(prompt);
    expect(skills[0]).toMatchObject({ id: "seeds" });
    const kept = JSON.stringify(project.ledger.matches({ limit: 1 }));
    expect(kept).toContain("[masked:");
    expect(kept).not.toMatch(/hunter2x9|sk-ant/);
  });
});

describe("what it costs", () => {
  it("is split over the skills that were shown, so that the parts give the whole", () => {
    const project = pool();
    project.rules({
      skills: {
        "invoice-forms": { enforcement: "auto", promptTriggers: { keywords: ["invoice"] } },
        "ledger-export": { promptTriggers: { keywords: ["ledger"] } },
        "pod-restart": { promptTriggers: { keywords: ["pod"] } },
      },
    });
    project.skill("invoice-forms", "Fills invoice forms in PDF.", { body: "Long words of a body. ".repeat(200) });
    for (const prompt of ["invoice and ledger", "pod and ledger", "which skills know a pod?", "continue"])
      project.prompt(prompt);
    const stats = readSkillStats(project.handle);
    expect(stats.answers).toEqual({ none: 0.25, names: 0.25, incremental: 0.25, full: 0.25 });
    const sum = stats.skills.reduce((total, { tokens }) => total + tokens, 0);
    expect(Math.abs(sum - stats.tokens)).toBeLessThanOrEqual(8);
    expect(stats.skills.find(({ id }) => id === "ledger-export")!.tokens).toBeLessThan(200);
  });

  it("counts a use after a showing as a hit", () => {
    const project = pool();
    project.prompt("the invoice is wrong");
    project.prompt("the pod is wrong");
    project.load("pod-restart");
    expect(readSkillStats(project.handle).skills).toMatchObject([
      { id: "invoice-forms", shown: 1, used: 0, loaded: 0, hitRate: 0 },
      { id: "pod-restart", shown: 1, used: 1, loaded: 1, hitRate: 1 },
    ]);
  });

  it("counts as used only showings that led to a load, so that the hit rate is used ÷ shown", () => {
    const project = pool();
    for (const sessionId of ["a", "b", "c"]) project.prompt("the pod is wrong", { sessionId });
    project.load("pod-restart", { session: { sessionId: "a" } });
    project.load("pod-restart", { session: { sessionId: "x" } });
    project.load("pod-restart", { session: { sessionId: "y" } });
    expect(readSkillStats(project.handle).skills).toMatchObject([
      { id: "pod-restart", shown: 3, used: 1, loaded: 3, hitRate: 1 / 3 },
    ]);
  });
});

describe("rules that look at files and the session", () => {
  it("take paths of the prompt, relative or absolute, and the folder of touched files as the domain", () => {
    const project = pool();
    project.rules({
      skills: {
        "pod-restart": { fileTriggers: { pathPatterns: ["deploy/**/*.yaml"], pathExclusions: ["deploy/test/**"] } },
      },
    });
    const fileReason = (prompt: string) =>
      project
        .prompt(prompt)
        .skills.find(({ id }) => id === "pod-restart")
        ?.reasons.find(({ feature }) => feature === "file")?.text;
    expect(fileReason("look at deploy/prod/app.yaml")).toBe("deploy/prod/app.yaml (in the prompt)");
    expect(fileReason("look at /repo/deploy/prod/app.yaml")).toBe("deploy/prod/app.yaml (in the prompt)");
    expect(fileReason("look at /elsewhere/deploy/prod/app.yaml")).toBeUndefined();
    expect(fileReason("look at deploy/test/app.yaml")).toBeUndefined();
    project.handle.db
      .prepare("INSERT INTO session_files (session_id, agent_id, path, at) VALUES ('s', '', ?, '2026')")
      .run("/repo/deploy/prod/db.yaml");
    expect(project.prompt("go on").domain).toBe("deploy");
    expect(fileReason("look around")).toBe("deploy/prod/db.yaml (touched in this session)");
  });

  it("are skipped once the skill was used, where they say so", () => {
    const project = pool();
    project.rules({
      skills: { "pod-restart": { skipConditions: { sessionSkillUsed: true }, promptTriggers: { keywords: ["pod"] } } },
    });
    project.prompt("continue");
    project.load("pod-restart");
    expect(project.prompt("the pod is wrong").skills[0]?.verdict).toContain("once it was used");
  });
});

describe("a body that comes unasked", () => {
  it("brings the skills it requires before it, and says which are missing", () => {
    const project = fakeProject();
    project.skill("style", "Use for SQL style.");
    project.skill("migrations", "Use for database migrations.", { more: "metadata:\n  requires: style, nowhere\n" });
    const { text } = project.prompt("use the migrations skill");
    expect(text.indexOf("AUTO-LOADED SKILL: style (required by migrations)")).toBeGreaterThanOrEqual(0);
    expect(text.indexOf("AUTO-LOADED SKILL: migrations")).toBeGreaterThan(text.indexOf("AUTO-LOADED SKILL: style"));
    expect(text).toContain("it requires nowhere, which is not installed");
  });

  it.each(["don't use the migrations skill", "do not use the migrations skill", "do it without migrations-now please"])(
    "does not come when the prompt refuses it: %s",
    (prompt) => {
      const project = fakeProject();
      project.skill("migrations", "Use for database migrations.");
      project.skill("migrations-now", "Use for urgent changes.");
      expect(project.prompt(prompt).text).not.toContain("AUTO-LOADED");
    },
  );
});

it("takes a request for skills by its topic, and lists the names when it has none", () => {
  const project = fakeProject();
  project.skill("skills-writer", "Use when writing skills for agents that have skills.");
  project.skill("pdf-forms", "Use when a PDF form must be filled.");
  expect(shownIds(project.prompt("which skills do you have for pdf forms?"))[0]).toBe("pdf-forms full");
  expect(project.prompt("which skills do you have?", { sessionId: "other" }).text).toContain(
    "Installed: pdf-forms, skills-writer.",
  );
});
