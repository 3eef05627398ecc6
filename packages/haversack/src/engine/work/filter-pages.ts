/** Lists by what the store has no index for: read in pages, and filtered here. */
import type { Page } from "../../store/work-store.ts";

interface PageOf {
  limit: number;
  offset: number;
}

/** Reads everything that the query has, because only then the rest can be counted; keeps no more than the page. */
export async function filterPages<T>(
  read: (page: PageOf) => Promise<Page<T>>,
  isWanted: (item: T) => boolean,
  { limit, offset }: PageOf,
): Promise<Page<T>> {
  const items: T[] = [];
  let total = 0;
  for await (const item of everyItem(read)) {
    if (!isWanted(item)) continue;
    if (total >= offset && items.length < limit) items.push(item);
    total++;
  }
  return { items, total };
}

const PAGE = 500;

export async function* everyItem<T>(read: (page: PageOf) => Promise<Page<T>>): AsyncGenerator<T> {
  for (let offset = 0; ; offset += PAGE) {
    const { items } = await read({ limit: PAGE, offset });
    yield* items;
    if (items.length < PAGE) return;
  }
}
