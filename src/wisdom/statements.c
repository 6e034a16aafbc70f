/* The SQL: tables and statements. Parameters ?1 to ?20 are the key's (fields.h). */
#include "wisdom/store.h"

#define TEXT_OF(x)  #x
#define NUMBER(x)   TEXT_OF(x)
#define APPLICATION 1635020407 /* ATN_WISDOM_APPLICATION, in decimal */
_Static_assert(APPLICATION == ATN_WISDOM_APPLICATION, "the header's number");
_Static_assert(ATN_WISDOM_SCHEMA == 1, "the text below says 1");

const char ATN_SQL_SCHEMA[] =
    /* what is computed; the name is for people */
    "CREATE TABLE kernels(id INTEGER PRIMARY KEY, name TEXT NOT NULL, graph TEXT NOT NULL, generator TEXT NOT NULL,"
    " UNIQUE(graph, generator));"
    /* where; the order of the columns serves all three levels of nearness */
    "CREATE TABLE devices(id INTEGER PRIMARY KEY, backend TEXT NOT NULL, arch TEXT NOT NULL, name TEXT NOT NULL,"
    " driver TEXT NOT NULL, compiler TEXT NOT NULL, threads TEXT NOT NULL,"
    " UNIQUE(backend, arch, name, driver, compiler, threads));"
    /* both, with all else that a measurement depends on */
    "CREATE TABLE keys(id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL REFERENCES kernels(id),"
    " device INTEGER NOT NULL REFERENCES devices(id), space TEXT NOT NULL, layout TEXT NOT NULL,"
    " reproducible INTEGER NOT NULL, tolerance TEXT NOT NULL, n_shape INTEGER NOT NULL,"
    " s0 INTEGER NOT NULL, s1 INTEGER NOT NULL, s2 INTEGER NOT NULL,"
    " s3 INTEGER NOT NULL, s4 INTEGER NOT NULL, s5 INTEGER NOT NULL,"
    " UNIQUE(kernel, device, n_shape, reproducible, tolerance, s0, s1, s2, s3, s4, s5, layout, space));"
    "CREATE INDEX keys_device ON keys(device);"
    "CREATE TABLE measurements(id INTEGER PRIMARY KEY, key INTEGER NOT NULL REFERENCES keys(id) ON DELETE CASCADE,"
    " variant TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL, seconds REAL NOT NULL, low REAL NOT NULL,"
    " high REAL NOT NULL, error REAL NOT NULL, samples INTEGER NOT NULL, dropped INTEGER NOT NULL,"
    " starts INTEGER NOT NULL, code TEXT NOT NULL, at TEXT NOT NULL, UNIQUE(key, variant));"
    "CREATE TABLE winners(key INTEGER PRIMARY KEY REFERENCES keys(id) ON DELETE CASCADE, variant TEXT NOT NULL,"
    " runner_up TEXT NOT NULL, seconds REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,"
    " runner_up_ratio REAL NOT NULL, tie INTEGER NOT NULL, fallback_seconds REAL NOT NULL,"
    " fraction_of_peak REAL NOT NULL, tried INTEGER NOT NULL, at TEXT NOT NULL);"
    "PRAGMA application_id=" NUMBER(APPLICATION) ";"
                                                 "PRAGMA user_version=1;";

/* CROSS JOIN keeps SQLite to this order, in which every table is entered through an index. */
#define SAME_KERNEL "FROM kernels k CROSS JOIN devices d CROSS JOIN keys q "
#define THIS_KERNEL "WHERE k.graph=?2 AND k.generator=?3 "
#define THIS_DEVICE "AND d.backend=?4 AND d.arch=?5 AND d.name=?6 AND d.driver=?7 AND d.compiler=?8 AND d.threads=?9 "
/* what the caller accepts must hold at every level */
#define THIS_PROMISE "AND q.kernel=k.id AND q.device=d.id AND q.n_shape=?14 AND q.reproducible=?12 AND q.tolerance=?13 "
#define THIS_SHAPE   "AND q.s0=?15 AND q.s1=?16 AND q.s2=?17 AND q.s3=?18 AND q.s4=?19 AND q.s5=?20 "

/* the best is chosen by its number alone; only then all of it is read */
#define BEST                                                                                                           \
    "SELECT " ATN_KEY_COLUMNS ", " ATN_WINNER_COLUMNS " FROM keys q CROSS JOIN kernels k ON k.id=q.kernel "            \
    "CROSS JOIN devices d ON d.id=q.device CROSS JOIN winners w ON w.key=q.id WHERE q.id=(SELECT q.id " SAME_KERNEL    \
    "CROSS JOIN winners w "
#define NEARNESS      "nearness(q.s0,?15,q.s1,?16,q.s2,?17,q.s3,?18,q.s4,?19,q.s5,?20)"
#define NEAREST_FIRST NEARNESS ", q.layout<>?11, w.seconds, w.at DESC LIMIT 1)"

/* Columns of ROW and WINNER as an insertion wants them, and their values from ?21 on. */
#define ROW_INTO                                                                                                       \
    "INSERT INTO measurements(key,variant,outcome,detail,seconds,low,high,error,samples,dropped,starts,code,at) "      \
    "VALUES(?1,?21,?22,?23,?24,?25,?26,?27,?28,?29,?30,?31,?32) ON CONFLICT(key,variant) DO UPDATE SET "
#define ROW_SET                                                                                                        \
    "outcome=excluded.outcome,detail=excluded.detail,seconds=excluded.seconds,low=excluded.low,high=excluded.high,"    \
    "error=excluded.error,samples=excluded.samples,dropped=excluded.dropped,code=excluded.code,at=excluded.at"
#define CROWN_INTO                                                                                                     \
    "INSERT INTO winners(key,variant,runner_up,seconds,low,high,runner_up_ratio,tie,fallback_seconds,"                 \
    "fraction_of_peak,tried,at) VALUES(?1,?21,?22,?23,?24,?25,?26,?27,?28,?29,?30,?31) "                               \
    "ON CONFLICT(key) DO UPDATE SET variant=excluded.variant,runner_up=excluded.runner_up,seconds=excluded.seconds,"   \
    "low=excluded.low,high=excluded.high,runner_up_ratio=excluded.runner_up_ratio,tie=excluded.tie,"                   \
    "fallback_seconds=excluded.fallback_seconds,fraction_of_peak=excluded.fraction_of_peak,tried=excluded.tried,"      \
    "at=excluded.at"

const char *const ATN_SQL[ATN_SQL_COUNT] = {
    [ATN_SQL_KEY] =
        "SELECT q.id " SAME_KERNEL THIS_KERNEL THIS_DEVICE THIS_PROMISE THIS_SHAPE "AND q.layout=?11 AND q.space=?10",
    [ATN_SQL_ADD_KERNEL] = "INSERT INTO kernels(name,graph,generator) VALUES(?1,?2,?3) "
                           "ON CONFLICT(graph,generator) DO UPDATE SET name=excluded.name WHERE excluded.name<>''",
    [ATN_SQL_ADD_DEVICE] = "INSERT OR IGNORE INTO devices(backend,arch,name,driver,compiler,threads) "
                           "VALUES(?4,?5,?6,?7,?8,?9)",
    [ATN_SQL_ADD_KEY] = "INSERT INTO keys(kernel,device,space,layout,reproducible,tolerance,n_shape,s0,s1,s2,s3,s4,s5) "
                        "SELECT k.id,d.id,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20 FROM kernels k CROSS JOIN "
                        "devices d " THIS_KERNEL THIS_DEVICE "RETURNING id",
    /* what an earlier run measured stays beside the new start until it is told otherwise */
    [ATN_SQL_BEGIN_ROW] = "INSERT INTO measurements(key,variant,outcome,detail,seconds,low,high,error,samples,dropped,"
                          "starts,code,at) VALUES(?1,?2,'started','',0,0,0,0,0,0,1,?3,?4) ON CONFLICT(key,variant) DO "
                          "UPDATE SET outcome='started',starts=starts+1,at=excluded.at RETURNING starts",
    [ATN_SQL_TELL_ROW] = ROW_INTO ROW_SET,
    /* an end that is known beats a start, then the newer is kept */
    [ATN_SQL_MERGE_ROW] = ROW_INTO ROW_SET ",starts=max(starts,excluded.starts) WHERE (excluded.outcome<>'started',"
                                           "excluded.at)>(outcome<>'started',at)",
    [ATN_SQL_CROWN] = CROWN_INTO,
    [ATN_SQL_MERGE_CROWN] = CROWN_INTO " WHERE (excluded.seconds,at)<(seconds,excluded.at)",
    [ATN_SQL_ROWS] = "SELECT " ATN_ROW_COLUMNS " " SAME_KERNEL
                     "CROSS JOIN measurements m " THIS_KERNEL THIS_DEVICE THIS_PROMISE THIS_SHAPE
                     "AND q.layout=?11 AND q.space=?10 AND m.key=q.id ORDER BY m.id",
    [ATN_SQL_ROWS_OF] = "SELECT " ATN_ROW_COLUMNS " FROM measurements m WHERE m.key=?1 ORDER BY m.id",
    [ATN_SQL_EXACT] = BEST THIS_KERNEL THIS_DEVICE THIS_PROMISE THIS_SHAPE
    "AND q.layout=?11 AND w.key=q.id ORDER BY w.seconds, w.at DESC LIMIT 1)",
    [ATN_SQL_NEAR_SHAPE] = BEST THIS_KERNEL THIS_DEVICE THIS_PROMISE "AND w.key=q.id ORDER BY " NEAREST_FIRST,
    /* this device with another driver or compiler before others of its kind */
    [ATN_SQL_NEAR_DEVICE] = BEST THIS_KERNEL "AND d.backend=?4 AND d.arch=?5 " THIS_PROMISE
                                             "AND w.key=q.id ORDER BY d.name<>?6, d.threads<>?9, " NEAREST_FIRST,
    [ATN_SQL_SHIPPED] = BEST THIS_KERNEL "AND d.backend=?4 AND (d.arch=?5 OR d.name=?6) " THIS_PROMISE
                                         "AND w.key=q.id ORDER BY d.name<>?6, d.threads<>?9, " NEAREST_FIRST,
    [ATN_SQL_ENTRIES] = "SELECT q.id, " ATN_KEY_COLUMNS ", "
                        "(SELECT count(*) FROM measurements m WHERE m.key=q.id), "
                        "(SELECT count(*) FROM measurements m WHERE m.key=q.id AND m.outcome='right'), "
                        "w.key IS NOT NULL, " ATN_WINNER_COLUMNS " FROM keys q JOIN kernels k ON k.id=q.kernel "
                        "JOIN devices d ON d.id=q.device LEFT JOIN winners w ON w.key=q.id "
                        "ORDER BY k.name, k.graph, d.backend, d.name, q.device, q.n_shape, q.s0, q.s1, q.s2, q.s3, "
                        "q.s4, q.s5, q.id",
    [ATN_SQL_FORGET] = "DELETE FROM keys WHERE id=?1",
    [ATN_SQL_FORGET_KERNELS] = "DELETE FROM kernels WHERE id NOT IN (SELECT kernel FROM keys)",
    [ATN_SQL_FORGET_DEVICES] = "DELETE FROM devices WHERE id NOT IN (SELECT device FROM keys)",
};
