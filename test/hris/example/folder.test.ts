import { describeHris } from '../conformance.ts';
import { folderUnderTest } from './folder-under-test.ts';

describeHris('the example: folder', folderUnderTest);
