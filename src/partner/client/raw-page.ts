import { ConnectorError } from '../../errors.ts';
import type { HttpAnswer } from '../../http/message.ts';
import type { CallEndpoint } from './call.ts';
import { cutList } from './cut-list.ts';
import { parseJson } from './json-text.ts';
import { pageQuery, pageSize, totalOf } from './pages.ts';
import { type AskedCall, readAnswer } from './read-answer.ts';
import { rawItems, readItems } from './read-items.ts';
import type { ListEndpoint, LooseInput, RawPage, RawPageOptions, ReadItems } from './types.ts';

/**
 * One page of a list, its records left as they came for who knows most of them already; undefined behind the last. A
 * list without pages is its first.
 */
export async function readRawPage(
  call: CallEndpoint,
  endpoint: ListEndpoint,
  input: LooseInput,
  { page, size, ...options }: RawPageOptions,
): Promise<RawPage | undefined> {
  const { paging } = endpoint.list;
  const asked =
    paging === undefined
      ? input
      : { ...input, query: pageQuery(paging, input, page, pageSize(endpoint, paging, size)) };
  const { body, raw } = (await call(endpoint, asked, options, readList)) as RawList;
  if (raw.length === 0 && page > (paging?.firstPage ?? 0)) return undefined;
  const total = paging === undefined ? undefined : totalOf(paging, body);
  return { page, ...(total === undefined ? {} : { total }), raw };
}

interface RawList {
  /** What the answer says beside its records. */
  body: unknown;
  raw: Buffer[];
}

function readList(call: AskedCall, answer: HttpAnswer): RawList {
  const { list } = call.endpoint as ListEndpoint;
  const cut = cutList(answer.body, list.itemsAt);
  if (cut !== undefined) return { body: readAnswer(call, { ...answer, body: cut.short }), raw: cut.records };
  const body = readAnswer(call, answer);
  return { body, raw: rawItems(list, body).map((item) => Buffer.from(JSON.stringify(item))) };
}

const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/**
 * Reads the records of a raw page one by one.
 * @throws ConnectorError UNEXPECTED_ANSWER where a record is not JSON, for then the whole answer is none
 */
export function readRawRecords(endpoint: ListEndpoint, { page, raw }: RawPage): ReadItems<unknown> {
  // All as one text: what one record is made of tells the parser what the next is likely to be.
  const records = parseJson(
    Buffer.concat([OPEN, ...raw.flatMap((text, n) => (n === 0 ? [text] : [COMMA, text])), CLOSE]),
  );
  if (Array.isArray(records) && records.length === raw.length) return readItems(endpoint.list, records);
  throw new ConnectorError({
    code: 'UNEXPECTED_ANSWER',
    action: 'retry',
    message: `${endpoint.id} answered page ${page} with a record that is not JSON. It is asked for again.`,
  });
}
