/** Array methods whose callback is asynchronous. One element after the other: they share a connection. */

type Each<T, R> = (element: T) => Promise<R>;

export async function mapEach<T, R>(list: readonly T[], map: Each<T, R>): Promise<R[]> {
  const done: R[] = [];
  for (const element of list) done.push(await map(element));
  return done;
}

export async function flatMapEach<T, R>(list: readonly T[], map: Each<T, R | readonly R[]>): Promise<R[]> {
  return (await mapEach(list, map)).flat() as R[];
}

export async function filterEach<T>(list: readonly T[], test: Each<T, unknown>): Promise<T[]> {
  const kept: T[] = [];
  for (const element of list) if (await test(element)) kept.push(element);
  return kept;
}

export async function findEach<T>(list: readonly T[], test: Each<T, unknown>): Promise<T | undefined> {
  for (const element of list) if (await test(element)) return element;
  return undefined;
}

export async function someEach<T>(list: readonly T[], test: Each<T, unknown>): Promise<boolean> {
  for (const element of list) if (await test(element)) return true;
  return false;
}
