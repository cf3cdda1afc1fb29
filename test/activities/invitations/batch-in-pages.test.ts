import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { serve } from '../../http/servers.ts';
import { invitationWorld } from './invitation-world.ts';

/** The sandbox as a partner that gives the outcomes of a batch one on a page. */
async function outcomesInPages(sandboxUrl: string): Promise<string> {
  const origin = await serve(async (request, response) => {
    const url = new URL(request.url ?? '', sandboxUrl);
    const { method = 'GET' } = request;
    const { authorization = '' } = request.headers;
    const body = method === 'GET' ? {} : { body: new Uint8Array(await buffer(request)) };
    const answer = await fetch(url, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...body,
    });
    const json = (await answer.json()) as { data?: { results?: unknown[]; pagination?: object } };
    const results = json.data?.results;
    if (method === 'GET' && url.pathname.includes('/invite/bulk/') && results !== undefined) {
      const page = Number(url.searchParams.get('page') ?? 1);
      Object.assign(json.data ?? {}, {
        results: results.slice(page - 1, page),
        pagination: { page, perPage: 1, total: results.length },
      });
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(json));
  });
  return `${origin}${new URL(sandboxUrl).pathname}`;
}

test('everybody of a batch whose outcomes come in pages is known to be invited', async () => {
  const { run, applied, rows, invited, sandbox } = await invitationWorld({ between: outcomesInPages });
  const people = await applied();
  expect(people.length).toBeGreaterThan(1);
  await run('one');
  await sandbox.later();
  expect(await run('two')).toMatchObject({ state: 'done', counts: { quarantined: 0 } });
  expect((await rows()).map(({ state, code }) => [state, code])).toEqual(people.map(() => ['invited', null]));
  expect(await invited()).toEqual({ people: people.length, requests: 1 });
});
