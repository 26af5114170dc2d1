<?php

/*
 * One SQLite in the process, and the locks of a process survive what PHP scripts do to the database's files.
 * Each script ends with SIGKILL, so that nothing is tidied up, and every job that a push answered for must
 * be found by another process.
 */

declare(strict_types=1);

/** Runs the script, which pushes, does something, pushes 20 more and dies; then counts the jobs from outside. */
$survives = function (string $meanwhile, int $expected = 21): void {
    $script = php('
        askr_queue_push("q", "first");
        $db = ini_get("askr.queue_db");
        ' . $meanwhile . '
        for ($i = 0; $i < 20; $i++) {
            askr_queue_push("q", "more");
        }
        posix_kill(getmypid(), SIGKILL);
    ');
    same(-SIGKILL, $script->wait(), $meanwhile . $script->output());
    same((string) $expected, answer('echo askr_queue_size("q");'), "jobs after $meanwhile");
    sound();
    array_map('unlink', glob(db() . '*'));
};

// A program whose last close would remove the log, if it took the database for unused.
$visitor = 'sql("SELECT count(*) FROM askr_jobs");';

return [
    'PDO opens, reads and closes the file' => function () use ($survives, $visitor) {
        $pdo = '$pdo = new PDO("sqlite:$db"); holds($pdo->query("SELECT count(*) FROM askr_jobs")->fetchColumn() === 1, "PDO reads");';
        $survives("$pdo \$pdo = null;");
        $survives("$pdo \$pdo = null; $visitor");
        $survives("$pdo \$pdo->exec('PRAGMA wal_checkpoint(TRUNCATE)'); \$pdo = null; $visitor");
        $survives("$pdo $visitor");
    },

    'a script reads the raw files' => function () use ($survives, $visitor) {
        foreach (['hash_file("md5", %s)', 'copy(%s, folder("copy"))', 'file_get_contents(%s)', 'fclose(fopen(%s, "r+"))'] as $read) {
            foreach (['$db', '"$db-wal"', '"$db-shm"'] as $file) {
                $survives(sprintf($read, $file) . "; $visitor");
            }
        }
    },

    'the files are removed or replaced beneath it' => function () use ($survives) {
        // The first job goes with the database; what is answered afterwards does not.
        $survives('rename($db, "$db.away");', 20);
        $survives('unlink($db);', 20);
        $survives('array_map("unlink", glob("$db*"));', 20);
        $survives('sql("VACUUM INTO \'$db.copy\'"); rename("$db.copy", $db);', 21);
    },

    'the log alone is removed beneath it' => function () use ($survives) {
        // The first job was in it.
        $survives('unlink("$db-wal");', 20);
        $survives('sql("PRAGMA wal_checkpoint(TRUNCATE)"); unlink("$db-wal");', 21);
        $survives('rename("$db-wal", "$db-wal.away");', 20);
    },
];
