import { createRandom } from '../../src/sandbox/random.ts';
import { type BankServer, banned, both, changed, parallel, token, windowed } from './bank.ts';

type Draw = <T>(of: readonly T[]) => T;
type Kind = (draw: Draw, between: (least: number, most: number) => number) => BankServer;

const SECONDS = [1, 2, 5, 10, 12, 20, 30, 45, 60] as const;
const RATES = { least: 3, most: 110 };

/** Every kind of the bank with numbers nobody chose; more of what is common. */
const kinds: readonly Kind[] = [
  (draw, between) => drawnToken(draw, between),
  (draw, between) => drawnToken(draw, between),
  (draw, between) => drawnWindow(draw, between, 'fixed'),
  (draw, between) => drawnWindow(draw, between, 'fixed'),
  (draw, between) => drawnWindow(draw, between, 'log'),
  (draw, between) => drawnWindow(draw, between, 'log'),
  (draw, between) => drawnWindow(draw, between, 'counter'),
  (_draw, between) => {
    const perSecond = whole(between(4, 25));
    return both(perSecond, whole(perSecond * 60 * between(0.4, 0.95)));
  },
  (draw, between) => drawnWindow(draw, between, 'fixed', { headers: true }),
  (draw, between) => banned(drawnWindow(draw, between, 'fixed'), whole(between(1_000, 8_000))),
  (_draw, between) => parallel(whole(between(2, 40)), whole(between(100, 1_500))),
  (draw, between) => drawnToken(draw, between, change(draw)),
  (draw, between) => drawnWindow(draw, between, draw(['fixed', 'log', 'counter']), change(draw)),
  (draw, between) => drawnToken(draw, between, { noise: draw([0.01, 0.02, 0.04, 0.08, 0.15, 0.2]) }),
  (draw, between) =>
    drawnWindow(draw, between, draw(['fixed', 'log', 'counter']), { noise: draw([0.01, 0.03, 0.06, 0.1, 0.2]) }),
  (draw, between) => drawnToken(draw, between, { endpointPerSecond: draw([0.3, 0.5, 1]) }),
];

/** So many servers of chance, the kinds in turn. */
export function drawServers(seed: number, count: number): BankServer[] {
  const random = createRandom(seed);
  const draw: Draw = (of) => of[Math.floor(random() * of.length)]!;
  const between = (least: number, most: number): number => least * (most / least) ** random();
  return Array.from({ length: count }, (_, n) => kinds[n % kinds.length]!(draw, between));
}

function change(draw: Draw): Pick<BankServer, 'change'> {
  return { change: changed(draw([0.5, 2])).change };
}

function drawnToken(draw: Draw, between: (least: number, most: number) => number, more: Partial<BankServer> = {}) {
  const perSecond = whole(between(RATES.least, RATES.most / (more.change?.factor ?? 1)));
  return named(token(perSecond, Math.max(2, whole(perSecond * draw([0.2, 0.5, 1, 1, 2, 4]))), more));
}

function drawnWindow(
  draw: Draw,
  between: (least: number, most: number) => number,
  kind: 'fixed' | 'log' | 'counter',
  more: Partial<BankServer> = {},
): BankServer {
  const seconds = draw(SECONDS);
  const perSecond = between(Math.max(RATES.least, 10 / seconds), RATES.most / (more.change?.factor ?? 1));
  return named(windowed(kind, whole(perSecond * seconds), seconds, more));
}

function named(server: BankServer): BankServer {
  const { change, noise, headers, endpointPerSecond } = server;
  const more = [
    change === undefined ? '' : `x ${change.factor}`,
    noise === undefined ? '' : `noise ${noise}`,
    headers === undefined ? '' : 'headers',
    endpointPerSecond === undefined ? '' : `endpoint ${endpointPerSecond}/s`,
  ];
  return { ...server, name: [server.name, ...more].filter((one) => one !== '').join(', ') };
}

function whole(count: number): number {
  return Math.round(count);
}
