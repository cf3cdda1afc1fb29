import { expect, test } from 'vitest';
import { halved, windowed } from '../limiter/bank.ts';
import { drive } from '../limiter/drive.ts';

test('a window of a second that allows half is followed within ten seconds, by four of five at least', () => {
  const server = windowed('fixed', 20, 1, { change: halved, minutes: 12 });
  const afterTenSeconds = (times: number[]) =>
    times.filter((at) => at >= halved.atMs + 10_000 && at < halved.atMs + 20_000).length;
  const runs = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((seed) => drive(server, 'exact', seed));
  const followed = runs.filter(
    ({ admitted, refused }) => afterTenSeconds(admitted) > 85 && afterTenSeconds(refused) < 4,
  );
  expect(followed.length).toBeGreaterThanOrEqual(8);
});
