// Package storetest tests the store: one suite for every engine, and real
// databases for the tests of other packages. It is imported by tests only.
package storetest
