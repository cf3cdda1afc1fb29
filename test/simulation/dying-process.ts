/** Stands in for a player in the test of what becomes of one that dies: it says nothing of seed 3. */
for (const play of process.argv.slice(2)) {
  if (play === '3') process.kill(process.pid, 'SIGKILL');
  const line = { play, seed: Number(play), ms: 0, violations: [], holds: {}, hires: 1, events: 1, compared: 0 };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
