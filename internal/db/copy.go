package db

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
)

// copyBatch is the number of rows that are sent at once.
const copyBatch = 1000

// CopyToPostgres migrates the PostgreSQL database at url, which must have no rows, and
// copies every table of db to it, both in one transaction. So a copy that was interrupted leaves
// nothing and can be repeated. seeded are the tables to which the migrations add rows; these
// rows are replaced. Before the commit it reads everything back and compares the
// number of rows and a checksum of each table. Then it calls finish, which may change the
// copy in the same transaction, that of its ctx. It returns the number of rows by table.
func (db *DB) CopyToPostgres(ctx context.Context, url string, migrations fs.FS, seeded []string,
	finish func(ctx context.Context, target *DB) error) (map[string]int64, error) {
	target, err := openPostgres(ctx, url)
	if err != nil {
		return nil, err
	}
	defer target.close()
	copying, err := beginCopy(ctx, target, migrations, seeded)
	if err != nil {
		return nil, err
	}
	defer closePgx(copying.Conn())
	for _, table := range seeded {
		if _, err := copying.Exec(ctx, `DELETE FROM `+quoteName(table)); err != nil {
			return nil, err
		}
	}
	c := &copier{tx: copying, target: &Reader{querier: pgxQuerier{copying}, dialect: goose.DialectPostgres}}
	counts := map[string]int64{}
	err = db.ReadSnapshot(ctx, func(source *Reader) error {
		c.source = source
		if err := c.copyContractions(ctx); err != nil {
			return err
		}
		return c.copyTables(ctx, counts)
	})
	if err != nil {
		return nil, err
	}
	if err := c.setSequences(ctx); err != nil {
		return nil, err
	}
	inCopy := context.WithValue(ctx, txKey{}, &tx{conn: &pgConn{Conn: copying.Conn(), careful: true}})
	if err := finish(inCopy, &DB{engine: target}); err != nil {
		return nil, err
	}
	return counts, copying.Commit(ctx)
}

// beginCopy checks that target has no rows, begins a transaction on a connection of its own, and migrates target in it.
// The caller closes the connection.
func beginCopy(ctx context.Context, target *pgEngine, migrations fs.FS, seeded []string) (pgx.Tx, error) {
	if err := target.readSnapshot(ctx, func(r *Reader) error { return checkNoRows(ctx, r, seeded) }); err != nil {
		return nil, err
	}
	return beginMigrated(ctx, target.readPool.Config().ConnConfig, migrations)
}

// checkNoRows returns an error unless a database has no tables, or those that an interrupted copy
// of an earlier release has left, which are empty except for the seeded ones.
func checkNoRows(ctx context.Context, r *Reader, seeded []string) error {
	counts, err := r.CountRows(ctx)
	if err != nil || len(counts) == 0 {
		return err
	}
	for _, table := range slices.Sorted(maps.Keys(counts)) {
		if counts[table] > 0 && !slices.Contains(seeded, table) {
			return fmt.Errorf("the target is not empty, its table %s has rows: create a new empty database", table)
		}
	}
	// An interrupted copy of an earlier release may have applied a part of the migrations.
	_, err = r.SchemaVersion(ctx)
	if IsUndefinedTable(err) {
		return errors.New("the target is not empty, it has tables of another program: create a new empty database")
	}
	return err
}

// copier copies tables in a transaction of the target.
type copier struct {
	source, target *Reader
	tx             pgx.Tx
}

// copyContractions adds the contractions that the service has recorded after the migrations.
func (c *copier) copyContractions(ctx context.Context) error {
	var versions []int64
	err := c.source.query(ctx, `SELECT version FROM `+contractionsTable, nil, func(row Row) error {
		var v int64
		err := row.Scan(&v)
		versions = append(versions, v)
		return err
	})
	if err != nil {
		return err
	}
	_, err = c.tx.Exec(ctx, `INSERT INTO `+contractionsTable+` (version) SELECT unnest($1::bigint[])
		ON CONFLICT (version) DO NOTHING`, versions)
	return err
}

// copyTables copies every table and sets its number of rows in counts.
func (c *copier) copyTables(ctx context.Context, counts map[string]int64) error {
	sourceTables, err := c.source.Tables(ctx)
	if err != nil {
		return err
	}
	tables, err := c.tablesInOrder(ctx)
	if err != nil {
		return err
	}
	if !slices.Equal(sourceTables, slices.Sorted(slices.Values(tables))) {
		return fmt.Errorf("the databases have different tables: %v and %v", sourceTables, tables)
	}
	for _, table := range tables {
		if counts[table], err = c.copyTable(ctx, table); err != nil {
			return fmt.Errorf("copy the table %s: %w", table, err)
		}
	}
	return nil
}

// tablesInOrder returns the tables of the target, each after those that it references.
func (c *copier) tablesInOrder(ctx context.Context) ([]string, error) {
	tables, err := c.target.Tables(ctx)
	if err != nil {
		return nil, err
	}
	references := map[string][]string{}
	err = c.target.query(ctx, `SELECT child.relname, parent.relname FROM pg_constraint k
		JOIN pg_class child ON child.oid = k.conrelid JOIN pg_class parent ON parent.oid = k.confrelid
		WHERE k.contype = 'f' AND k.connamespace = current_schema()::regnamespace
		ORDER BY child.relname, parent.relname`, nil, func(row Row) error {
		var child, parent string
		err := row.Scan(&child, &parent)
		references[child] = append(references[child], parent)
		return err
	})
	var ordered []string
	visited := map[string]bool{}
	var visit func(table string)
	visit = func(table string) {
		if visited[table] {
			return
		}
		visited[table] = true
		for _, parent := range references[table] {
			visit(parent)
		}
		ordered = append(ordered, table)
	}
	for _, table := range tables {
		visit(table)
	}
	return ordered, err
}

// copyTable copies a table, reads it back, and returns the number of its rows.
func (c *copier) copyTable(ctx context.Context, table string) (int64, error) {
	columns, isBool, err := c.columns(ctx, table)
	if err != nil {
		return 0, err
	}
	var read, written tableSum
	var batch [][]any
	send := func() error {
		_, err := c.tx.CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(batch))
		batch = batch[:0]
		return err
	}
	err = readTable(ctx, c.source, table, columns, func(row []any) error {
		for i, v := range row {
			if n, ok := v.(int64); ok && isBool[columns[i]] { // SQLite has no type for it
				row[i] = n != 0
			}
		}
		if batch = append(batch, row); len(batch) == copyBatch {
			if err := send(); err != nil {
				return err
			}
		}
		return read.add(row)
	})
	if err == nil {
		err = send()
	}
	if err == nil {
		err = readTable(ctx, c.target, table, columns, written.add)
	}
	if err == nil && read != written {
		err = fmt.Errorf("the copy differs: %d rows of %d, or other values", written.rows, read.rows)
	}
	return read.rows, err
}

// columns returns the columns of a table, which must be the same in both databases, and
// which of them are of the type BOOLEAN.
func (c *copier) columns(ctx context.Context, table string) (columns []string, isBool map[string]bool, err error) {
	isBool = map[string]bool{}
	list := func(r *Reader) (names []string, err error) {
		q := `SELECT name, type FROM pragma_table_info($1) ORDER BY name`
		if r.dialect == goose.DialectPostgres {
			q = `SELECT column_name::text, data_type::text FROM information_schema.columns
				WHERE table_schema = current_schema() AND table_name = $1 ORDER BY column_name COLLATE "C"`
		}
		err = r.query(ctx, q, []any{table}, func(row Row) error {
			var name, columnType string
			err := row.Scan(&name, &columnType)
			names = append(names, name)
			isBool[name] = isBool[name] || columnType == "boolean"
			return err
		})
		return names, err
	}
	source, err := list(c.source)
	if err != nil {
		return nil, nil, err
	}
	columns, err = list(c.target)
	if err == nil && !slices.Equal(source, columns) {
		err = fmt.Errorf("the databases have different columns: %v and %v", source, columns)
	}
	return columns, isBool, err
}

// setSequences makes each sequence continue after the largest copied value.
func (c *copier) setSequences(ctx context.Context) error {
	var statements []string
	err := c.target.query(ctx, `SELECT table_name::text, column_name::text FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name <> $1
		AND pg_get_serial_sequence(quote_ident(table_name), column_name) IS NOT NULL`, []any{migrationsTable},
		func(row Row) error {
			var table, column string
			err := row.Scan(&table, &column)
			statements = append(statements, fmt.Sprintf(
				`SELECT setval(pg_get_serial_sequence('%s', '%s'), max(%s)) FROM %[4]s HAVING max(%[3]s) IS NOT NULL`,
				quoteName(table), column, quoteName(column), quoteName(table)))
			return err
		})
	for _, q := range statements {
		if err == nil {
			_, err = c.tx.Exec(ctx, q)
		}
	}
	return err
}

// readTable calls row with the values of each row of a table.
func readTable(ctx context.Context, r *Reader, table string, columns []string, row func([]any) error) error {
	q := "SELECT "
	for i, name := range columns {
		if i > 0 {
			q += ", "
		}
		q += quoteName(name)
	}
	return r.query(ctx, q+" FROM "+quoteName(table), nil, func(from Row) error {
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := from.Scan(dest...); err != nil {
			return err
		}
		return row(values)
	})
}

// tableSum is the number of rows and a checksum that does not depend on their order.
type tableSum struct {
	rows int64
	sum  [4]uint64 // of the rows' hashes
}

// add adds a row. It fails for a type that the two databases may return differently.
func (s *tableSum) add(row []any) error {
	h := sha256.New()
	for _, v := range row {
		var err error
		switch v := v.(type) {
		case nil:
			_, err = h.Write([]byte{'n'})
		case bool:
			_, err = fmt.Fprintf(h, "b%t", v)
		case int64:
			_, err = fmt.Fprintf(h, "i%d;", v)
		case string:
			_, err = fmt.Fprintf(h, "t%d;%s", len(v), v)
		case []byte:
			_, err = fmt.Fprintf(h, "x%d;%s", len(v), v)
		case time.Time:
			_, err = fmt.Fprintf(h, "u%d;", v.UnixMicro())
		default:
			err = fmt.Errorf("values of the type %T cannot be compared", v)
		}
		if err != nil {
			return err
		}
	}
	var digest [sha256.Size]byte
	h.Sum(digest[:0])
	for i := range s.sum {
		s.sum[i] += binary.BigEndian.Uint64(digest[8*i:])
	}
	s.rows++
	return nil
}
