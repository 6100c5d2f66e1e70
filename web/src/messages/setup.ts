/** Test support: tests read English. */
import { setLanguage } from '.';
import { en } from './en';

setLanguage('en', en);
