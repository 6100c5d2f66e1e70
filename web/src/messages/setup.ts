/** Test support: tests run in English. */
import { setLanguage } from '.';
import { en } from './en';

setLanguage('en', en);
