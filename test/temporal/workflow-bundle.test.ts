import { expect, test } from 'vitest';
import { bundledFiles, bundleWorkflows } from '../../src/temporal/worker.ts';

test('the files that decide under which name the bundle is kept are those that it contains', async () => {
  const [, map = ''] = /sourceMappingURL=data:[^,]*,(\S+)/.exec(await bundleWorkflows()) ?? [];
  const { sources } = JSON.parse(Buffer.from(map, 'base64').toString('utf8')) as { sources: string[] };
  const ours = sources.filter((source) => source.endsWith('.ts') && !source.includes('node_modules'));
  expect(ours.some((source) => source.includes('/src/hire/'))).toBe(true);
  expect([...bundledFiles().keys()]).toEqual(ours.toSorted());
});
