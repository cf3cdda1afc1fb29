import { type BankServer, both, doubled, halved, token, windowed } from './bank.ts';

/** A rate that 16 in flight reach, with round trips of 110 ms. */
const MOST_PER_SECOND = 145;

function tableWith(change?: NonNullable<BankServer['change']>): BankServer[] {
  const more = change === undefined ? {} : { change };
  const servers = [
    token(3, 1, more),
    token(120, 30, more),
    windowed('fixed', 20, 1, more),
    windowed('fixed', 250, 30, more),
    windowed('log', 600, 60, more),
    windowed('counter', 300, 60, more),
    both(10, 300, more),
  ];
  if (change === undefined) return servers;
  return servers
    .filter(({ perSecond }) => perSecond * change.factor <= MOST_PER_SECOND)
    .map((server) => ({ ...server, name: `${server.name}, x ${change.factor}` }));
}

const noisy: readonly BankServer[] = [0.01, 0.03, 0.06, 0.1, 0.15, 0.2].flatMap((noise) => {
  const name = `${noise * 100} % noise`;
  return [
    token(10, 10, { name: `token 10/s, ${name}`, noise }),
    windowed('log', 300, 30, { name: `log 300 per 30 s, ${name}`, noise }),
    windowed('fixed', 40, 2, { name: `fixed 40 per 2 s, ${name}`, noise }),
  ];
});

/** What an outside bank is known to hold: its table as it is, halved and doubled, noise, and headers. */
export const outside: readonly BankServer[] = [
  ...tableWith(),
  ...noisy,
  windowed('fixed', 250, 30, { name: 'fixed 250 per 30 s, headers', headers: true }),
  windowed('fixed', 600, 60, { name: 'fixed 600 per 60 s, epoch', headers: 'epoch' }),
  windowed('log', 200, 20, { name: 'log 200 per 20 s, headers', headers: true }),
  ...tableWith(halved),
  ...tableWith(doubled),
].map((server) => ({ ...server, isPlain: true }));
