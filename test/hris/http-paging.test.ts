import { expect, test } from 'vitest';
import { type Answer, openKestrel } from './open-kestrel.ts';
import { refusal, signal, write } from './profile.ts';

const definitionOf = (paging: string, query = ''): string => `hrisDefinition: 1
name: Kestrel
options: { token: { secret: true } }
auth: { query: { key: "{options.token}" } }
record: { id: id }
fields: { email: { at: email } }
find: { all: { get: /staff, ${query}items: staff, paging: ${paging} } }
read: { get: "/staff/{id}" }
create: { post: /staff }
update: { patch: "/staff/{id}" }
probe: { get: /me }
`;

const FIRST = [{ id: '1', email: 'ana@kestrel.example' }];
const SECOND = [{ id: '2', email: 'late@kestrel.example' }];
const LATE = { by: 'email', value: 'late@kestrel.example' } as const;

test.for([
  ['two lines of it', ['</api/staff?page=1>; rel="first"', '</api/staff?page=2>; rel="next"']],
  ['two lines, the first of which is the next', ['</api/staff?page=2>; rel=next', '</api/staff?page=9>; rel=last']],
  ['a comma in quotes', '</api/staff?page=2>; title="a, b"; rel="next"'],
  ['a link in quotes', '</api/staff?page=1>; title="</x>; rel=next, \\"y\\""; rel=prev, </api/staff?page=2>; rel=next'],
  ['two relations', '</api/staff?page=2>; rel="last next"'],
  ['capitals', '</api/staff?page=2>; REL="Next"'],
  ['a relation that only begins so', '</api/staff?page=9>; rel="next-archive", </api/staff?page=2>; rel="next"'],
  ['spaces', ' </api/staff?page=2> ; rel = "next" '],
  ['a query alone', '<?page=2>; rel="next"'],
  ['a path from where it was asked', '<staff?page=2>; rel="next"'],
  ['an address at another host', '<https://evil.example/api/staff?page=2>; rel="next"'],
  ['our own key in it', '</api/staff?key=x&page=2>; rel="next"'],
  ['our key blackened in it', '</api/staff?page=2&key=***>; rel="next"'],
] as const)('a Link header with %s leads to the next page', async ([, link]) => {
  const asked: string[] = [];
  const hris = await openKestrel(
    definitionOf('{ by: link }'),
    ({ url = '' }, say) => {
      asked.push(url);
      if (url.includes('page=2')) return say(200, { staff: SECOND });
      return say(200, { staff: FIRST }, { link: typeof link === 'string' ? link : [...link] });
    },
    { token: 'x' },
    '/api',
  );
  expect(await hris.employees.find(LATE, signal)).toMatchObject({ kind: 'one', ref: { id: '2' } });
  expect(asked).toEqual(['/api/staff?key=x', '/api/staff?page=2&key=x']);
});

test.for([
  ['no link', undefined],
  ['no next one', '</api/staff?page=1>; rel="first"'],
  ['a next one in the words of another', '</api/staff?page=9>; title="rel=next"; rel="prev"'],
] as const)('a Link header with %s ends the list', async ([, link]) => {
  const hris = await openKestrel(
    definitionOf('{ by: link }'),
    (_asked, say) => say(200, { staff: FIRST }, link === undefined ? undefined : { link }),
    { token: 'x' },
    '/api',
  );
  expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted: true });
});

test.for(['?page=2', '/api/staff?page=2', '<?page=2>; rel=next'])('a header of its own with %s', async (next) => {
  const hris = await openKestrel(
    definitionOf('{ by: link, header: Next-Page }'),
    ({ url = '' }, say) =>
      url.includes('page=2') ? say(200, { staff: SECOND }) : say(200, { staff: FIRST }, { 'next-page': next }),
    { token: 'x' },
    '/api',
  );
  expect(await hris.employees.find(LATE, signal)).toMatchObject({ kind: 'one' });
});

async function followed(next: unknown): Promise<unknown> {
  const hris = await openKestrel(
    definitionOf('{ by: cursor, next: next }', 'query: { after: "{page.cursor}" }, '),
    ({ url = '' }, say) => (url.includes('after=') ? say(200, { staff: SECOND }) : say(200, { staff: FIRST, next })),
    { token: 'x' },
  );
  return hris.employees.find(LATE, signal);
}

test.for([[{ after: 'two' }], [true], [['two']]])(
  'a next cursor that is %j is not taken for the end',
  async ([next]) => {
    const refused = await refusal(followed(next));
    expect(refused).toMatchObject({
      code: 'HRIS_UNREADABLE_ANSWER',
      action: 'retry',
      message: expect.stringContaining('GET /staff was answered with a next cursor that is neither text nor a number'),
    });
    expect(refused.message).toContain('"find.all.paging.next"');
  },
);

test.for([[undefined], [null], [''], [false]])('a next cursor that is %j ends the list', async ([next]) => {
  expect(await followed(next)).toEqual({ kind: 'none', trusted: true });
});

test.for([
  ['{ by: cursor, next: next }', { next: 'two' }, false],
  ['{ by: link, next: next }', { next: '/staff?after=two' }, false],
  ['{ by: offset, first: 0 }', {}, true],
] as const)('an "absent" status on a further page, %s, ends only a list whose pages are counted', async (given) => {
  const [paging, named, isEnd] = given;
  const all = `all: { get: /staff, items: staff, paging: ${paging} }`;
  const query = `query: { of: "{value}", ${isEnd ? 'from: "{page.offset}"' : 'after: "{page.cursor}"'} }`;
  const email = `email: { get: /staff, ${query}, items: staff, absent: [404], trusted: true, paging: ${paging} }`;
  const hris = await openKestrel(
    definitionOf(paging).replace(all, email),
    ({ url = '' }, say) => (/after=two|from=1/.test(url) ? say(404, {}) : say(200, { staff: FIRST, ...named })),
    { token: 'x' },
  );
  const found = hris.employees.find(LATE, signal);
  if (isEnd) expect(await found).toEqual({ kind: 'none', trusted: true });
  else expect(await refusal(found)).toMatchObject({ code: 'NOT_FOUND', action: 'reject' });
});

test.for([['two'], [2], [0]])('a next cursor that is %j is followed', async ([next]) => {
  expect(await followed(next)).toMatchObject({ kind: 'one' });
});

const TWO = [...FIRST, { id: '3', email: 'bo@kestrel.example' }];

/** A system of two pages, or of one person a page for who asks; it names the next page as it is told. */
function pagedAt(name: (next: string) => object, mayBeShort = true): Answer {
  return ({ url = '' }, say) => {
    const { searchParams } = new URL(url, 'http://hr');
    if (searchParams.get('after') === 'two') return say(200, { staff: SECOND });
    const isShort = mayBeShort && searchParams.get('size') === '1';
    return say(200, { staff: isShort ? FIRST : TWO, ...name(`/staff?after=${isShort ? 'one' : 'two'}`) });
  };
}

const SIZED = 'query: { after: "{page.cursor}", size: "{page.size}" }, ';

test.for([
  ['a cursor at a place that no answer has', '{ by: cursor, next: nxt }', SIZED],
  ['a link in a header that no answer has', '{ by: link, header: Next-Page }', SIZED],
  ['a link, by a system that names the next page in its body', '{ by: link }', SIZED],
  ['a cursor at a wrong place, and pages of one size', '{ by: cursor, next: nxt }', 'query: { c: "{page.cursor}" }, '],
] as const)('a list by %s is not taken for whole after its first page', async ([, paging, query]) => {
  const lists = `lists: { sites: { get: /staff, ${query}items: staff, paging: ${paging}, id: id, label: email } }\n`;
  const hris = await openKestrel(
    `${definitionOf(paging, query)}${lists}`,
    pagedAt((next) => ({ next })),
    { token: 'x' },
  );
  expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted: false });
  expect(await refusal(hris.lists?.read('sites', signal) ?? Promise.resolve())).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    message: expect.stringMatching(/names no next page.*"lists\.sites\.paging".*"total".*\{page\.size\}/),
  });
});

test.for([
  [3, true],
  [2, false],
])('a list whose request asks for no size is whole if it has fewer than %i records: %s', async ([size, trusted]) => {
  const query = 'query: { after: "{page.cursor}" }, ';
  const definition = definitionOf(`{ by: cursor, next: next, size: ${size} }`, query);
  const hris = await openKestrel(definition, (_asked, say) => say(200, { staff: TWO }), { token: 'x' });
  expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted });
});

test.for([
  ['names its next pages', (next: string) => (next.endsWith('one') ? { next } : {}), true, true],
  ['says that there is none', () => ({ next: null }), false, true],
  ['refuses such pages', () => ({}), false, false],
] as const)(
  'a list of one page is whole if the system, asked for shorter pages, %s',
  async ([, name, short, trusted]) => {
    const hris = await openKestrel(definitionOf('{ by: cursor, next: next }', SIZED), pagedAt(name, short), {
      token: 'x',
    });
    expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted });
  },
);

const COUNTED = 'query: { from: "{page.offset}", size: "{page.size}" }, ';
const PAGED = '{ by: offset, first: 0, size: 2, total: count }';
const STAFF = [...TWO, ...SECOND];

test.for([
  ['the records of its page', (_from: number, found: unknown[]) => found.length],
  ['the records up to its page', (from: number, found: unknown[]) => from + found.length],
] as const)('a total that counts only %s does not hide the next page', async ([, count]) => {
  const lists = `lists: { sites: { get: /staff, ${COUNTED}items: staff, paging: ${PAGED}, id: id, label: email } }\n`;
  const answer: Answer = ({ url = '' }, say) => {
    const { searchParams } = new URL(url, 'http://hr');
    const from = Number(searchParams.get('from'));
    const found = STAFF.slice(from, from + Number(searchParams.get('size')));
    return say(200, { staff: found, count: count(from, found) });
  };
  const hris = await openKestrel(`${definitionOf(PAGED, COUNTED)}${lists}`, answer, { token: 'x' });
  expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted: false });
  expect(await refusal(hris.lists?.read('sites', signal) ?? Promise.resolve())).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    message: expect.stringMatching(/has a total that counts only its page.*"lists\.sites\.paging"/),
  });
});

test.for([
  ['shows the same total of a shorter page', 200],
  ['refuses a shorter page', 400],
] as const)('a list of one full page is whole by its total if the system %s', async ([, status]) => {
  const answer: Answer = ({ url = '' }, say) =>
    say(url.includes('size=1') ? status : 200, { staff: url.includes('size=1') ? FIRST : TWO, count: 2 });
  const hris = await openKestrel(definitionOf(PAGED, COUNTED), answer, { token: 'x' });
  expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted: true });
});

test('a list of one page by the Link header is whole without that header', async () => {
  const answer: Answer = (_asked, say) => say(200, { staff: TWO });
  const hris = await openKestrel(definitionOf('{ by: link }'), answer, { token: 'x' });
  expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted: true });
});

test('the address of the next page may be in the body', async () => {
  const paging = '{ by: link, next: "`@odata.nextLink`" }';
  const say = pagedAt((next) => ({ '@odata.nextLink': `https://hr.example${next}` }));
  const hris = await openKestrel(definitionOf(paging), say, { token: 'x' });
  expect(await hris.employees.find(LATE, signal)).toMatchObject({ kind: 'one' });
});

test.for([
  ['in its body', {}, { next: 'two' }],
  ['inside its body', {}, { meta: { hasMore: true } }],
  ['in a Link header', { link: '<?page=2>; rel=next' }, {}],
] as const)(
  'a list without paging whose answer names a next page %s is not taken for whole',
  async ([, headers, body]) => {
    const all = definitionOf('{}').replace(', paging: {}', '');
    const answer: Answer = (_asked, say) => say(200, { staff: FIRST, ...body }, headers);
    const hris = await openKestrel(
      `${all}lists: { sites: { get: /staff, items: staff, id: id, label: email } }\n`,
      answer,
      {
        token: 'x',
      },
    );
    expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted: false });
    expect(await refusal(hris.lists?.read('sites', signal) ?? Promise.resolve())).toMatchObject({
      code: 'HRIS_UNREADABLE_ANSWER',
      message: expect.stringMatching(/names a further page.*"lists\.sites\.paging"/),
    });
  },
);

test.for([{ next: null }, { meta: { has_more: false, nextPage: '' } }, { nextReview: '2027-01-01' }])(
  'a list without paging is whole with %j',
  async (body) => {
    const all = definitionOf('{}').replace(', paging: {}', '');
    const hris = await openKestrel(all, (_asked, say) => say(200, { staff: FIRST, ...body }), { token: 'x' });
    expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted: true });
  },
);

const LISTS = `requisitions:
  id: position.no
  fields: { title: { at: title } }
  list: { get: /positions, query: { page: "{page.number}" }, paging: { by: page, total: total }, items: rows }
  read: { get: "/positions/{id}" }
  update: { patch: "/positions/{id}" }
lists:
  sites: { get: /sites, query: { page: "{page.number}" }, paging: { by: page }, items: rows, id: code, label: name }
`;

/** A system whose positions and sites have their ids elsewhere than its employees. */
async function openListed(pageOf: (page: number) => unknown[]) {
  return openKestrel(
    `${definitionOf('{ by: link }')}${LISTS}`,
    ({ url = '' }, say) => {
      const rows = pageOf(Number(new URL(url, 'http://hr').searchParams.get('page')));
      say(200, { rows, ...(url.startsWith('/positions') && { total: 2 }) });
    },
    { token: 'x' },
  );
}

test('positions and lists that have no id at the place of an employee are read to their end', async () => {
  const row = (at: number) => ({ code: `s${at}`, name: `Site ${at}`, position: { no: at }, title: `Cook ${at}` });
  const hris = await openListed((page) => (page < 1 || page > 2 ? [] : [row(page)]));
  expect((await hris.requisitions?.listOpen(signal))?.map(({ id }) => id)).toEqual(['1', '2']);
  expect((await hris.lists?.read('sites', signal))?.map(({ id }) => id)).toEqual(['s1', 's2']);
});

test.for([
  ['by its id, whatever else is different', (page: number) => ({ code: 's1', name: `Site ${page}` })],
  ['by all that it has, if it has no id', () => ({ name: 'Site' })],
] as const)('a list that gives the same page again is seen %s', async ([, rowOf]) => {
  const hris = await openListed((page) => [rowOf(page)]);
  expect(await refusal(hris.lists?.read('sites', signal) ?? Promise.resolve())).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    message: expect.stringContaining('GET /sites gave the same page again'),
  });
});

test('a heading on each page is no page given again', async () => {
  const rowsOf = (page: number) => [{ name: 'Heading' }, { code: `s${page}`, name: 'x' }];
  const hris = await openListed((page) => (page < 1 || page > 3 ? [] : rowsOf(page)));
  expect((await hris.lists?.read('sites', signal))?.map(({ id }) => id)).toEqual(['s1', 's2', 's3']);
});

const filesOf = (paging: string, query = '') => `${definitionOf('{ by: link }')}files:
  list: { get: "/staff/{id}/files", ${query}items: files, name: name${paging} }
  same: { base64: bytes }
  upload: { post: "/staff/{id}/files", body: { name: "{file.name}", bytes: "{file.base64}" } }
`;
const FILE = { name: 'late.pdf', document: 'offer:8', mediaType: 'application/pdf', bytes: Buffer.from('late') };
const LISTED = ['first.pdf', 'late.pdf'].map((name) => ({ name, bytes: Buffer.from('late').toString('base64') }));

/** A system that lists one file a page, and counts the uploads. */
async function openFiled(definition: string) {
  let uploads = 0;
  const answer: Answer = ({ url = '', method }, say) => {
    if (method === 'POST') uploads += 1;
    const page = Number(new URL(url, 'http://hr').searchParams.get('page') ?? 1);
    say(200, { files: LISTED.slice(page - 1, page), nextPage: page < LISTED.length ? page + 1 : null });
  };
  const { files } = await openKestrel(definition, answer, { token: 'x' });
  return { deliver: async () => files?.deliver('7', FILE, write), uploads: () => uploads };
}

test('a file on a further page of the list is there', async () => {
  const query = 'query: { page: "{page.number}" }, ';
  const { deliver, uploads } = await openFiled(filesOf(', paging: { by: page }', query));
  expect([await deliver(), uploads()]).toEqual(['there', 0]);
});

test('a file that may be on a page that nobody asked for is not uploaded again', async () => {
  const { deliver, uploads } = await openFiled(filesOf(''));
  expect(await refusal(deliver())).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    message: expect.stringMatching(/names a further page.*"files\.list\.paging"/),
  });
  expect(uploads()).toBe(0);
});

/** Where a record goes that somebody edits between two pages, and who is then on no page. */
const ORDERS = [
  ['the latest change first', '4', (staff: Record<string, unknown>[]) => staff.unshift(...staff.splice(3, 1))],
  [
    'the oldest change first',
    '3',
    (staff: Record<string, unknown>[]) => staff.push(...staff.splice(0, 1).map((one) => ({ ...one, at: 'later' }))),
  ],
] as const;
const PAGINGS = ['{ by: offset, first: 0, size: 2, total: count }', '{ by: page }'];

test.for(PAGINGS.flatMap((paging) => ORDERS.map((order) => [paging, ...order] as const)))(
  'a list by %s, %s, that somebody moved in while it was read proves nothing',
  async ([paging, , unseen, move]) => {
    const query = 'query: { at: "{page.offset}", page: "{page.number}" }, ';
    const staff = ['1', '2', '3', '4', '5'].map((id) => ({ id, email: `${id}@kestrel.example` }));
    let isQuiet = false;
    const hris = await openKestrel(
      definitionOf(paging, paging.includes('offset') ? query : query.replace('at: "{page.offset}", ', '')),
      ({ url = '' }, say) => {
        const asked = new URL(url, 'http://kestrel').searchParams;
        const at = Number(asked.get('at') ?? 2 * (Number(asked.get('page')) - 1));
        say(200, { staff: staff.slice(at, at + 2), count: 5 });
        if (!isQuiet) move(staff);
        isQuiet = true;
      },
      { token: 'x' },
    );
    const find = () => hris.employees.find({ by: 'email', value: `${unseen}@kestrel.example` }, signal);
    expect(await find()).toEqual({ kind: 'none', trusted: false });
    expect(await find()).toMatchObject({ kind: 'one', ref: { id: unseen } });
  },
);

test.for([
  ['a total', { staff: FIRST, total: 37 }, {}],
  ['a total beside them, as in GraphQL', { data: { team: { staff: FIRST, totalCount: 2 } } }, {}],
  ['a next page, as in GraphQL', { data: { team: { staff: FIRST, pageInfo: { hasNextPage: true } } } }, {}],
  ['a total in a header', { staff: FIRST }, { 'x-total-count': '2' }],
] as const)('a list with %s beyond what it shows proves nothing without paging', async ([, body, headers]) => {
  const text = definitionOf('{ by: link }').replace(', paging: { by: link }', '');
  const nested = 'data' in body ? text.replace('items: staff', 'items: data.team.staff') : text;
  const open = (answer: Answer) => openKestrel(nested, answer, { token: 'x' });
  const hris = await open((_asked, say) => say(200, body, headers));
  expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted: false });
});

test('a total that counts what the list shows, or what a record has, is no further page', async () => {
  const text = definitionOf('{ by: link }').replace(', paging: { by: link }', '');
  const one = { ...FIRST[0], total: 5_000, next: 'a promotion' };
  const hris = await openKestrel(text, (_asked, say) => say(200, { staff: one, count: 1 }), { token: 'x' });
  expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted: true });
});

test.for([
  ['others', SECOND, false],
  ['the same people', FIRST, true],
  ['nobody', [], true],
] as const)('pages from 1 prove absence unless the page before them has others: %s', async ([, zeroth, trusted]) => {
  const asked: string[] = [];
  const answer: Answer = ({ url = '' }, say) => {
    const page = /page=(\d)/.exec(url)?.[1] ?? '';
    asked.push(page);
    return say(200, { staff: page === '1' ? FIRST : page === '0' ? zeroth : [] });
  };
  const text = definitionOf('{ by: page }', 'query: { page: "{page.number}" }, ');
  const hris = await openKestrel(text, answer, { token: 'x' });
  expect(await hris.employees.find(LATE, signal)).toEqual({ kind: 'none', trusted });
  expect(asked).toEqual(['1', '2', '0']);
});

test.for([
  ['{ "data": null, "errors": [{}] }', undefined],
  ['{ "data": { "team": null } }', undefined],
  ['{ "data": { "team": { "staff": [{ "wrong": {} }] } } }', undefined],
  ['{ "data": { "team": { "staff": [] } } }', { kind: 'none', trusted: true }],
] as const)('a list in brackets is empty only if the answer has one: %s', async ([body, found]) => {
  const list = 'items: "[data.team.staff.node[kind != \'guest\']]"';
  const text = definitionOf('{ by: link }').replace('items: staff, paging: { by: link }', list);
  const hris = await openKestrel(text, (_asked, say) => say(200, JSON.parse(body)), { token: 'x' });
  const looked = hris.employees.find(LATE, signal);
  if (found !== undefined) return expect(await looked).toEqual(found);
  expect(await refusal(looked)).toMatchObject({
    code: 'HRIS_UNREADABLE_ANSWER',
    message: expect.stringContaining('find.all.items'),
  });
});
