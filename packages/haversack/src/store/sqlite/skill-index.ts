/** The compiled skill index whole: for prompts, by name, by file, all of it, and full-text search. */
import type { DatabaseSync } from "node:sqlite";
import type { SkillCard } from "../../skills/types.ts";
import { PromptIndex } from "./prompt-index.ts";
import { SkillCards, type SkillLookup } from "./skill-cards.ts";

export class SqliteSkillIndex extends PromptIndex implements SkillLookup {
  readonly #cards: SkillCards;

  constructor(db: DatabaseSync) {
    super(db);
    this.#cards = new SkillCards(db);
  }

  card(id: string): SkillCard | undefined {
    return this.#cards.card(id);
  }

  cardAt(path: string): SkillCard | undefined {
    return this.#cards.cardAt(path);
  }

  idOf(name: string): string | undefined {
    return this.#cards.idOf(name);
  }

  listCards(): SkillCard[] {
    return this.#cards.listCards();
  }

  /** Full-text search, best first: `match` is an FTS5 expression. */
  search(match: string, limit: number): number[] {
    return (this.all(SEARCH, match, limit) as unknown as { skill: number }[]).map(({ skill }) => skill);
  }
}

const SEARCH =
  "SELECT rowid AS skill FROM skills_search WHERE skills_search MATCH ? ORDER BY bm25(skills_search, 3, 1, 0.2) LIMIT ?";
