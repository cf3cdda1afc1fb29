import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GramIndex } from '../../src/sandbox/records/candidate-search.ts';
import { openDashboard } from './open-dashboard.ts';
import type { Json } from './open-sandbox.ts';

// Few letters make many hits; the last two are not told apart by their codes.
const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '.', 'é', 'ё', 'Ѐ', '\u0401'), maxLength: 8 });

test('the index finds exactly the texts that contain a term, whatever was added, changed and removed', () => {
  const change = fc.record({ id: fc.nat(12), text: fc.option(text) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.array(text, { minLength: 1 }), (changes, terms) => {
      const [index, known] = [new GramIndex(), new Map<number, string>()];
      for (const { id, text: now } of changes) {
        index.remove(id);
        known.delete(id);
        if (now === null) continue;
        index.add(id, now);
        known.set(id, now);
      }
      for (const term of terms) {
        const right = [...known].filter(([, one]) => one.includes(term)).map(([id]) => id);
        expect([...index.find(term)]).toEqual(right.toSorted((a, b) => a - b));
      }
    }),
    { numRuns: 500 },
  );
});

/** Three people, and who is found. */
function open() {
  const sandbox = openDashboard({ candidates: 0 });
  const add = (firstName: string, more: object): number =>
    sandbox.api('POST', '/candidates', { firstName, email: `${firstName}@example.com`, ...more }).data.id;
  const found = (query: string): string[] =>
    sandbox.api('GET', `/candidates/list?${query}`).data.map((one: Json) => one.firstName);
  const ids = [
    add('Ada', { lastName: 'Lovelace', skills: ['Analysis', 'Poetry'], currentJobTitle: 'Analyst' }),
    add('Grace', { lastName: 'Hopper', skills: ['Compilers'], currentCompany: 'Navy Yard' }),
    add('Sofía', { email: 'sofia@example.com', lastName: 'Kovalevskaya', skills: 'analysis, Writing' }),
  ];
  return { ...sandbox, add, found, ids };
}

test.each([
  ['searchTerm=lace', ['Ada']],
  ['searchTerm=a%20LOVE', ['Ada']],
  ['searchTerm=SOF%C3%8DA', ['Sofía']],
  ['searchTerm=a', ['Ada', 'Grace', 'Sofía']],
  ['searchTerm=example.com', ['Ada', 'Grace', 'Sofía']],
  ['searchTerm=navy%20yard', ['Grace']],
  ['searchTerm=adax', []],
  ['skills=analysis', ['Ada', 'Sofía']],
  ['skills=compilers,poetry', ['Ada', 'Grace']],
  ['skills=analys', []],
  ['skills=analysis&searchTerm=lace', ['Ada']],
  ['currentJobTitle=ANALY', ['Ada']],
  ['currentCompany=yard&searchTerm=gra', ['Grace']],
  ['searchTerm=ada&createdAtMin=2099-01-01', []],
])('%s finds %j', (query, names) => {
  expect(open().found(query)).toEqual(names);
});

test('a search sees what was added, edited, deleted and undone since the last one', () => {
  const { add, found, does, state, ids } = open();
  expect(found('searchTerm=hopper')).toEqual(['Grace']);
  add('Alan', { lastName: 'Hopper', skills: ['Analysis'] });
  does('editCandidate', { candidateId: ids[1], fields: { lastName: 'Murray', skills: ['Analysis'] } });
  expect(found('searchTerm=hopper')).toEqual(['Alan']);
  expect(found('skills=compilers')).toEqual([]);
  does('deleteCandidate', { candidateIds: [ids[0]] });
  expect(found('skills=analysis')).toEqual(['Grace', 'Sofía', 'Alan']);
  const undone = () =>
    state.transaction(() => {
      does('editCandidate', { candidateId: ids[1], fields: { lastName: 'Nobody' } });
      throw new Error('undone');
    });
  expect(undone).toThrow('undone');
  add('Emmy', { lastName: 'Noether' });
  expect([found('searchTerm=nobody'), found('searchTerm=murray'), found('searchTerm=noether')]).toEqual([
    [],
    ['Grace'],
    ['Emmy'],
  ]);
});

test('pages of a search follow one another', () => {
  const { api } = openDashboard({ candidates: 60 });
  const pages = [0, 1, 2].map((n) => api('GET', `/candidates/list?searchTerm=example&perPage=40&pageNumber=${n}`));
  expect(pages.map(({ data, pagination }) => [data.length, pagination.total])).toEqual([
    [40, 60],
    [20, 60],
    [0, 60],
  ]);
});
