/**
 * One record of the store and one of an import that speak of the same thing. Field by field: the record that was changed later
 * wins, the other's values are named. Where both are equally old, what came only fills what is missing. WIP and the last
 * holder have times of their own and are decided by them; the history of WIP is united, and so are the readers of a message. Aliases are
 * not decided here: an import adds them.
 */
import type { MessageRecord, TaskRecord, WorkRecord } from "../../work-records.ts";

export interface MergedRecord<T> {
  record: T;
  /** Taken from the import. */
  updated: string[];
  /** Different in the import, and older or not newer there. */
  kept: string[];
}

export function mergeRecord<T extends WorkRecord>(stored: T, came: T, timeOf: (record: T) => string): MergedRecord<T> {
  const result: MergedRecord<T> = { record: { ...stored }, updated: [], kept: [] };
  const target = result.record as unknown as Fields;
  const before = stored as unknown as Fields;
  const after = came as unknown as Fields;
  const isNewer = timeOf(came) > timeOf(stored);
  const isOlder = timeOf(came) < timeOf(stored);
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (OWN_RULE.has(field) || isEqual(before[field], after[field])) continue;
    const isFilled = !isOlder && before[field] === undefined;
    if (isNewer || isFilled) {
      setField(target, field, after[field]);
      result.updated.push(field);
    } else result.kept.push(field);
  }
  if (stored.kind === "task" && came.kind === "task") {
    mergeClaim(result as unknown as MergedRecord<TaskRecord>, { stored, came, isNewer, isOlder });
    mergeHolder(result as unknown as MergedRecord<TaskRecord>, { stored, came, isNewer, isOlder });
    mergeWork(result as unknown as MergedRecord<TaskRecord>, { stored, came });
  }
  if (stored.kind === "message" && came.kind === "message") {
    mergeReaders(result as unknown as MergedRecord<MessageRecord>, came);
  }
  result.updated = withoutTime(result.updated);
  result.kept = withoutTime(result.kept);
  return result;
}

type Fields = Record<string, unknown>;

const OWN_RULE = new Set(["aliases", "claim", "last_holder", "wip", "wip_updated_at", "wip_history", "readers"]);

/** What was read on either side is read. */
function mergeReaders({ record, updated, kept }: MergedRecord<MessageRecord>, came: MessageRecord): void {
  const readers = (record.readers ?? []).map((reader) => ({ ...reader }));
  let isChanged = false;
  let isKept = false;
  for (const reader of came.readers ?? []) {
    const known = readers.find(({ agent, branch }) => agent === reader.agent && branch === reader.branch);
    if (!known) readers.push(reader);
    else if (reader.read_at === undefined || reader.read_at === known.read_at) continue;
    else if (known.read_at === undefined) known.read_at = reader.read_at;
    else {
      isKept = true;
      continue;
    }
    isChanged = true;
  }
  if (isKept) kept.push("readers");
  if (!isChanged) return;
  record.readers = readers;
  updated.push("readers");
}

/** A claim goes with the status that won. Of one status the newer heartbeat counts. */
function mergeClaim(
  { record, updated, kept }: MergedRecord<TaskRecord>,
  { stored, came, isNewer, isOlder }: { stored: TaskRecord; came: TaskRecord; isNewer: boolean; isOlder: boolean },
): void {
  if (isEqual(stored.claim, came.claim)) return;
  const isFresher = (came.claim?.heartbeat_at ?? "") > (stored.claim?.heartbeat_at ?? "");
  const isTaken = stored.status === came.status ? isFresher || (isNewer && !stored.claim) : isNewer && !isOlder;
  if (isTaken && !(record.status !== "in_progress" && came.claim)) {
    setField(record as unknown as Fields, "claim", came.claim);
    updated.push("claim");
  } else kept.push("claim");
}

/** Whoever gave the last sign of life held it last. Where one side has none, the side that was changed later is right. */
function mergeHolder(
  { record, updated, kept }: MergedRecord<TaskRecord>,
  { stored, came, isNewer, isOlder }: { stored: TaskRecord; came: TaskRecord; isNewer: boolean; isOlder: boolean },
): void {
  const before = stored.last_holder;
  const after = came.last_holder;
  if (isEqual(before, after)) return;
  const isTaken =
    before && after ? after.last_seen_at > before.last_seen_at || isNewer : isNewer || (after && !isOlder);
  if (isTaken) {
    setField(record as unknown as Fields, "last_holder", after);
    updated.push("last_holder");
  } else kept.push("last_holder");
}

function mergeWork(
  { record, updated, kept }: MergedRecord<TaskRecord>,
  { stored, came }: { stored: TaskRecord; came: TaskRecord },
): void {
  if (came.wip !== undefined && !isEqual(stored.wip, came.wip)) {
    if (stored.wip === undefined || (came.wip_updated_at ?? "") > (stored.wip_updated_at ?? "")) {
      record.wip = came.wip;
      record.wip_updated_at = came.wip_updated_at ?? came.updated_at;
      updated.push("wip");
    } else kept.push("wip");
  }
  const known = new Map<string, number>();
  for (const entry of stored.wip_history ?? []) known.set(keyOf(entry), (known.get(keyOf(entry)) ?? 0) + 1);
  const added = (came.wip_history ?? []).filter((entry) => {
    const left = known.get(keyOf(entry)) ?? 0;
    known.set(keyOf(entry), left - 1);
    return left <= 0;
  });
  if (added.length === 0) return;
  // Stable: what happened at one time stays in its order.
  record.wip_history = [...(stored.wip_history ?? []), ...added].sort((a, b) =>
    a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
  );
  updated.push("wip_history");
}

function setField(target: Fields, field: string, value: unknown): void {
  if (value === undefined) delete target[field];
  else target[field] = value;
}

/** That the time of the change differs says nothing, unless it is all that does. */
function withoutTime(fields: string[]): string[] {
  const others = fields.filter((field) => field !== "updated_at");
  return others.length > 0 ? others : fields;
}

export function isEqual(one: unknown, other: unknown): boolean {
  return one === other || keyOf(one) === keyOf(other);
}

/** Equal for equal values, whatever the order of their fields. */
export function keyOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? ""
  );
}
