/** Skills: shown, used, never used, their cost, and which skills a prompt would get. */
import { useState } from "preact/hooks";
import { post, useLive } from "./api.ts";
import { Empty, fieldsOf, Meter, Page, Problem, short, whole } from "./parts.tsx";
import type { SkillRow, Tried } from "./types.ts";

export function Skills() {
  const { value, error } = useLive<{ skills: SkillRow[] }>("skills");
  const [filter, setFilter] = useState("");
  const [order, setOrder] = useState<"shown" | "id" | "tokens">("shown");
  if (!value) return <Page title="Skills" error={error} />;
  const wanted = filter.trim().toLowerCase();
  const rows = value.skills
    .filter(({ id, description }) => `${id} ${description}`.toLowerCase().includes(wanted))
    .sort((a, b) => (order === "id" ? 0 : b[order] - a[order]) || (a.id < b.id ? -1 : 1));
  const never = value.skills.filter(({ shown, loaded }) => shown === 0 && loaded === 0).length;
  return (
    <Page title="Skills" error={error}>
      <h2 class="part">Try a prompt</h2>
      <Try />
      <h2 class="part">
        {value.skills.length === 1 ? "One skill" : `${whole(value.skills.length)} skills`}
        {never > 0 && <span class="quiet"> {whole(never)} never shown or loaded here</span>}
      </h2>
      {value.skills.length > 0 && (
        <div class="bar">
          <label class="find">
            <span class="hidden">Find a skill</span>
            <input
              type="search"
              placeholder="Find a skill"
              value={filter}
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
          </label>
          <label>
            Sort by{" "}
            <select value={order} onChange={(event) => setOrder(event.currentTarget.value as typeof order)}>
              <option value="shown">shown</option>
              <option value="tokens">tokens</option>
              <option value="id">name</option>
            </select>
          </label>
        </div>
      )}
      {rows.length === 0 ? (
        <Empty>
          {value.skills.length > 0 ? (
            "No skill fits."
          ) : (
            <>
              This project has no skills yet. <code>haversack skill new NAME</code> writes one.
            </>
          )}
        </Empty>
      ) : (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">Skill</th>
                <th scope="col" class="number">
                  shown
                </th>
                <th scope="col" class="number">
                  used
                </th>
                <th scope="col" class="number">
                  loaded
                </th>
                <th scope="col" class="number">
                  tokens
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, 500).map(({ id, description, source, shown, used, loaded, tokens }) => (
                <tr key={id} class={shown + loaded === 0 ? "unused" : ""}>
                  <th scope="row">
                    {id}
                    <span class="about">{description}</span>
                    <span class="quiet">{source}</span>
                  </th>
                  <td class="number">{shown}</td>
                  <td class="number">{used}</td>
                  <td class="number">{loaded}</td>
                  <td class="number">{short(tokens)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  );
}

function Try() {
  const [tried, setTried] = useState<Tried>();
  const [error, setError] = useState<string>();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const { prompt } = fieldsOf(event.currentTarget as HTMLFormElement);
    try {
      setTried(await post<Tried>("try", { prompt }));
      setError(undefined);
    } catch (fault) {
      setError((fault as Error).message);
    }
  };
  return (
    <>
      <form class="bar" aria-label="Try a prompt" onSubmit={(event) => void submit(event)}>
        <label class="grow">
          <span class="hidden">Prompt</span>
          <input name="prompt" placeholder="What somebody would ask the agent" required autocomplete="off" />
        </label>
        <button type="submit" class="main">
          Try
        </button>
      </form>
      <Problem text={error} />
      {tried && (
        <div class="tried" role="status">
          <p>
            {tried.text === ""
              ? "The model would see nothing."
              : `The model would see this (about ${tried.tokens} tokens):`}
          </p>
          {tried.text !== "" && <pre>{tried.text}</pre>}
          <ol class="ranking">
            {tried.skills.map(({ id, confidence, disclosure, verdict, reasons }) => (
              <li key={id}>
                <strong>{id}</strong>
                <span class="fill">
                  <Meter value={confidence} label={`Confidence of ${id}`} /> {confidence.toFixed(2)}
                  <span class="quiet">{verdict ?? (disclosure === "none" ? "not shown" : disclosure)}</span>
                </span>
                <p class="reasons">{byFeature(reasons)}</p>
              </li>
            ))}
          </ol>
        </div>
      )}
    </>
  );
}

/** `description: error, status · use: used in this project before` */
function byFeature(reasons: readonly { feature: string; text: string }[]): string {
  const texts = new Map<string, string[]>();
  for (const { feature, text } of reasons) texts.set(feature, [...(texts.get(feature) ?? []), text]);
  return [...texts].map(([feature, all]) => `${feature}: ${all.join(", ")}`).join(" · ");
}
