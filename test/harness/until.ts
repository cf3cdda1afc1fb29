export { until } from '../../src/counterparts/until.ts';
