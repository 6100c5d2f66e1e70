/** Test support: tests read English. */
import { speak } from '.';
import { en } from './en';

speak('en', en);
