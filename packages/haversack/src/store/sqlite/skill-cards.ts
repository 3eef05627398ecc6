/** Skills of the compiled index by name and by file, and all of them: the half that sessions and tools need. The hook bundles this file. */
import type { PatternKind, PatternRow, SkillCard } from "../../skills/types.ts";
import { CARD_COLUMNS, type CardRow, SkillRows, toCard } from "./skill-rows.ts";

export interface SkillLookup {
  card(id: string): SkillCard | undefined;
  /** The skill whose file this is. */
  cardAt(path: string): SkillCard | undefined;
  /** The id under which a name is installed: the name itself, else one of that name with or without a plugin's prefix. */
  idOf(name: string): string | undefined;
  listCards(): SkillCard[];
  cards(keys: readonly number[]): SkillCard[];
  /** Those of the kinds given, without the ones that were too slow once. */
  patterns(kinds: readonly PatternKind[]): PatternRow[];
  /** The text of a version. */
  body(hash: string): string | undefined;
}

export class SkillCards extends SkillRows implements SkillLookup {
  card(id: string): SkillCard | undefined {
    const [row] = this.all(CARD, id) as unknown as CardRow[];
    return row && toCard(row);
  }

  cardAt(path: string): SkillCard | undefined {
    const [row] = this.all(CARD_AT, path) as unknown as CardRow[];
    return row && toCard(row);
  }

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
}

const CARD = `${CARD_COLUMNS} AND s.id = ?`;
/** All names stand in the index: the rows, which hold long texts, need not be read for them. */
const IDS_NAMED =
  "SELECT id FROM skills INDEXED BY skills_by_id WHERE active = 1 AND (id = ?1 OR substr(id, -length(?2)) = ?2) ORDER BY rank, id LIMIT 1";
const CARD_AT = `${CARD_COLUMNS} AND s.path = ?`;
const ALL_CARDS = `${CARD_COLUMNS} ORDER BY s.id`;
