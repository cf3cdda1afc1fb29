import { codeFacts, endpointFacts, enumerationFacts, eventFacts, limitFacts, pageFacts } from './facts.ts';

/** Every way in which the facts differ from the text of the specification; empty when there is none. */
export function specDifferences(spec: string): string[] {
  const quotes = [...pageFacts, ...enumerationFacts, ...limitFacts].map(({ quote }) => quote);
  return [
    ...setDifferences(
      'route',
      endpointFacts.map(({ method, path }) => `${method} ${path}`),
      routesOf(spec),
    ),
    ...setDifferences('event', eventFacts, eventsOf(spec)),
    ...setDifferences(
      'code',
      codeFacts.map(({ code, status }) => `${code} ${status}`),
      codesOf(spec),
    ),
    ...codeFacts.flatMap(({ code, type }) =>
      type && !spec.includes(`${code} (${type})`) ? [`${code}: not (${type})`] : [],
    ),
    ...quotes.filter((quote) => !spec.includes(quote)).map((quote) => `not in the text: ${quote}`),
    ...enumerationFacts.flatMap(({ what, values }) =>
      values.filter((value) => !spec.includes(value)).map((value) => `${what}: ${value} is not in the text`),
    ),
    ...sectionDifferences(spec),
    ...(spec.includes(STATUS_SENTENCE) ? [] : [`not in the text: ${STATUS_SENTENCE}`]),
  ];
}

const STATUS_SENTENCE =
  'Status codes: 200, 201 (stage create, assessment create, auto-generate, onboarding enroll), 202 (rescore, bulk' +
  ' invite), 400, 401, 402, 403, 404, 409, 429, 500.';

/** First cells of the tables of section 4: `| GET /pipelines/:pipelineId (integer) |`. */
function routesOf(spec: string): string[] {
  const rows = partOf(spec, '## 4. ', '## 5. ').matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) (\/[^\s|]+)/gm);
  return [...rows].map(([, method, path]) => `${method} ${path}`);
}

/** Rows of the table of section 6; `resume.single_parse.completed / .failed` are two. */
function eventsOf(spec: string): string[] {
  const rows = partOf(spec, '## 6. ', '## 7. ').matchAll(/^\| ([a-z_]+(?:\.[a-z_]+)+)(?: \/ \.([a-z_]+))? \|/gm);
  return [...rows].flatMap(([, name = '', second]) =>
    second === undefined ? [name] : [name, name.replace(/[a-z_]+$/, second)],
  );
}

/** Rows of the table of section 7, several codes in one row taken apart. */
function codesOf(spec: string): string[] {
  const rows = partOf(spec, '## 7. ', '## 8. ').matchAll(
    /^\| ([A-Z_]+(?: \/ [A-Z_]+)*)(?: \([a-z_]+\))? \| (\d{3}) \|/gm,
  );
  return [...rows].flatMap(([, codes = '', status]) => codes.split(' / ').map((code) => `${code} ${status}`));
}

/** Each route stands in the part of section 4 that its fact names. */
function sectionDifferences(spec: string): string[] {
  const parts = new Map(
    partOf(spec, '## 4. ', '## 5. ')
      .split('\n### ')
      .slice(1)
      .map((part) => [part.split(' ')[0] ?? '', routesIn(part)]),
  );
  return endpointFacts
    .filter(({ section, method, path }) => !parts.get(section)?.includes(`${method} ${path}`))
    .map(({ section, method, path }) => `${method} ${path} is not in section ${section}`);
}

function routesIn(part: string): string[] {
  return [...part.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) (\/[^\s|]+)/gm)].map(
    ([, method, path]) => `${method} ${path}`,
  );
}

function partOf(spec: string, from: string, to: string): string {
  return spec.slice(spec.indexOf(`\n${from}`), spec.indexOf(`\n${to}`));
}

function setDifferences(what: string, facts: readonly string[], found: readonly string[]): string[] {
  return [
    ...facts.filter((fact) => !found.includes(fact)).map((fact) => `${what} ${fact} is not in the text`),
    ...found.filter((value) => !facts.includes(value)).map((value) => `${what} ${value} is no fact`),
  ];
}
