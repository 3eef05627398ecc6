/** The compiled skill index whole: by name, by file, all of it, and full-text search. */
import type { SkillCard } from "../../skills/types.ts";
import { CARD_COLUMNS, type CardRow, PromptIndex, toCard } from "./prompt-index.ts";

export class SqliteSkillIndex extends PromptIndex {
  card(id: string): SkillCard | undefined {
    const [row] = this.all(CARD, id) as unknown as CardRow[];
    return row && toCard(row);
  }

  /** The skill whose file this is. */
  cardAt(path: string): SkillCard | undefined {
    const [row] = this.all(CARD_AT, path) as unknown as CardRow[];
    return row && toCard(row);
  }

  /** The id under which a name is installed: the name itself, else one of that name with or without a plugin's prefix. */
  idOf(name: string): string | undefined {
    // Nearly always, and by an index; the card is asked for next.
    if (this.card(name)) return name;
    const bare = name.slice(name.lastIndexOf(":") + 1);
    const rows = this.all(IDS_NAMED, bare, `:${bare}`);
    return rows[0] && String(rows[0]["id"]);
  }

  listCards(): SkillCard[] {
    return (this.all(ALL_CARDS) as unknown as CardRow[]).map(toCard);
  }

  /** Full-text search, best first: `match` is an FTS5 expression. */
  search(match: string, limit: number): number[] {
    return (this.all(SEARCH, match, limit) as unknown as { skill: number }[]).map(({ skill }) => skill);
  }
}

const CARD = `${CARD_COLUMNS} AND s.id = ?`;
const IDS_NAMED =
  "SELECT id FROM skills WHERE active = 1 AND (id = ?1 OR substr(id, -length(?2)) = ?2) ORDER BY rank, id LIMIT 1";
const CARD_AT = `${CARD_COLUMNS} AND s.path = ?`;
const ALL_CARDS = `${CARD_COLUMNS} ORDER BY s.id`;
const SEARCH =
  "SELECT rowid AS skill FROM skills_search WHERE skills_search MATCH ? ORDER BY bm25(skills_search, 3, 1, 0.2) LIMIT ?";
