import { startBambooDouble } from '../../src/counterparts/bamboohr-double.ts';

/** The double in a process of its own, so that its CPU is nobody else's. Its address is the first line that it says. */
const { url } = await startBambooDouble();
process.stdout.write(`${url}\n`);
