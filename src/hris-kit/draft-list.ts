import {
  type Json,
  lettersOf,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  spelled,
  typeOf,
} from './openapi-document.ts';

/** How a list is asked for and goes on, as far as its document shows it. */
interface DraftList {
  items: string;
  /** What every request for the list says. */
  always: Record<string, string>;
  /** What a request for one of its pages says beside that. */
  pages: Record<string, string>;
  paging?: Json;
  /** Parameters whose meaning the document leaves open. */
  unused: string[];
  notes: string[];
}

export const SIZE = /^(limit|take|count|pagesize|perpage|size|top|pagelimit)$/;
const OFFSET = /^(offset|startindex|skip|start|startat)$/;
const PAGE = /^page(number|index)?$/;
const CURSOR = /^(cursor|after|token|pagetoken|pagecursor|nexttoken|continuationtoken)$/;
const TOTAL = /^(odata)?(total|totalresults|totalcount|totalitems|totalelements|totalrecords|count)$/;
const LINK = /^(odata)?next(link|url|pageurl)$|^links?next(href)?$/;
/** Without it, a list may leave out former employees, who would be employed a second time. */
const FORMER =
  /^(include|show|with)?(inactive|terminated|former|deleted|archived|deactivated)(employees|users|workers)?$/;
const COUNTED = /^(include|with)?(total)?count$|^(include|with)total$/;
/** Who changed since a time. */
export const SINCE = /^(since|(updated|modified|changed)(since|after|from|gt|gte)|changedsince)$/;
const NO_FILTER = /^(sort|order|fields?$|select|expand|include$|format|page|skip|top|offset|limit|size)/;

export function draftList(document: OpenApiDocument, list: Operation | undefined): DraftList {
  const asked = document.parameters(list, 'query');
  const flags = asked.filter(
    ({ letters, schema }) => typeOf(schema) === 'boolean' && (FORMER.test(letters) || COUNTED.test(letters)),
  );
  const members = document.membersOf(document.answerOf(list));
  const lists = members.filter(({ place: [top = ''], schema }) => typeOf(schema) === 'array' && top !== 'included');
  const found = (lists.find(({ schema }) => document.holdsRecords(schema)) ?? lists[0])?.place;
  const { pages, paging } = pagesOf(document, list, asked, members);
  const used = new Set([...flags.map(({ name }) => name), ...Object.keys(pages)]);
  return {
    items: found === undefined ? 'data' : itemsAt(found, paging?.['total']),
    always: Object.fromEntries(flags.map(({ name }) => [name, 'true'])),
    pages,
    ...(paging && { paging }),
    unused: asked
      .filter(({ name, letters }) => !used.has(name) && ![NO_FILTER, SINCE].some((one) => one.test(letters)))
      .map(({ name }) => name),
    notes: [
      ...(found === undefined ? ['"items": where the list of people is in an answer; "data" is a guess'] : []),
      ...(paging === undefined
        ? ['"find.all.paging": the document does not show how a list goes on; without it only one page is read']
        : []),
    ],
  };
}

/** HAL leaves out an empty list. */
function itemsAt(found: readonly string[], total: unknown): string {
  const items = spelled(found) || '$';
  return found[0] === '_embedded' && typeof total === 'string' ? `${total} = 0 ? [] : ${items}` : items;
}

function pagesOf(
  document: OpenApiDocument,
  list: Operation | undefined,
  asked: readonly Parameter[],
  members: readonly { place: string[]; schema: Json }[],
): { pages: Record<string, string>; paging?: Json } {
  const named = (pattern: RegExp): Parameter | undefined =>
    asked.find(({ letters, schema }) => pattern.test(letters) && typeOf(schema) !== 'boolean');
  const at = (pattern: RegExp, isFit: (schema: Json) => boolean = () => true): string | undefined => {
    const found = members.find(
      ({ place, schema }) => isFit(schema) && place.length > 0 && pattern.test(lettersOf(place.join(''))),
    );
    return found && spelled(found.place);
  };
  const size = named(SIZE);
  const sized = (more: Record<string, string>): Record<string, string> =>
    size === undefined ? more : { ...more, [size.name]: '{page.size}' };
  const most = size && { size: Math.min(100, Number(size.schema['maximum'] ?? 100)) };
  const last = members.find(({ place }) => TOTAL.test(lettersOf(place.at(-1) ?? '')))?.place;
  const total = last && { total: spelled(last) };

  const link = at(LINK) ?? at(/^next$/, (schema) => schema['format'] === 'uri');
  const isByHeader = document.answerHeaders(list).includes('link');
  // OData's $top is the most records of the whole list.
  const isPage = size !== undefined && !size.letters.endsWith('top');
  if (link !== undefined || isByHeader)
    return {
      pages: isPage ? sized({}) : {},
      paging: { by: 'link', ...(isPage && most), ...(link && { next: link }), ...total },
    };
  const first = ({ schema }: Parameter, usual: number): number =>
    Number(schema['default'] ?? schema['minimum'] ?? usual);
  const offset = named(OFFSET);
  if (offset !== undefined)
    return {
      pages: sized({ [offset.name]: '{page.offset}' }),
      paging: { by: 'offset', first: first(offset, offset.letters.includes('index') ? 1 : 0), ...most, ...total },
    };
  const page = named(PAGE);
  if (page !== undefined)
    return {
      pages: sized({ [page.name]: '{page.number}' }),
      paging: { by: 'page', first: first(page, 1), ...most, ...total },
    };
  const [cursor, next] = [named(CURSOR), at(/next|cursor/)];
  if (cursor !== undefined && next !== undefined)
    return { pages: sized({ [cursor.name]: '{page.cursor}' }), paging: { by: 'cursor', next, ...most } };
  return { pages: {} };
}
