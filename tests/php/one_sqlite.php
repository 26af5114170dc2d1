<?php

/*
 * One SQLite in the process, and the locks of a process survive what PHP scripts do to the database's files.
 * Each script ends with SIGKILL, so that nothing is tidied up, and every job that a push answered for must
 * be found by another process.
 */

declare(strict_types=1);

/** Runs the script, which pushes, does something, is visited, pushes 20 more and dies; then counts from outside. */
$survives = function (string $meanwhile, int $expected = 21, bool $visited = true): void {
    $script = php('
        askr_queue_push("q", "first");
        $db = ini_get("askr.queue_db");
        ' . $meanwhile . '
        echo "ready\n";
        fgets(STDIN);
        for ($i = 0; $i < 20; $i++) {
            askr_queue_push("q", "more");
        }
        posix_kill(getmypid(), SIGKILL);
    ')->says('ready');
    // Another program, whose last close removes the log if it takes the database for unused.
    $visited && sql('SELECT count(*) FROM sqlite_master');
    $script->tell('go on');
    same(-SIGKILL, $script->wait(), $meanwhile . $script->output());
    same((string) $expected, answer('echo askr_queue_size("q");'), "jobs after $meanwhile");
    sound();
    array_map('unlink', glob(db() . '*'));
};

return [
    'PDO opens, reads and closes the file' => function () use ($survives) {
        $pdo = '$pdo = new PDO("sqlite:$db"); holds($pdo->query("SELECT count(*) FROM askr_jobs")->fetchColumn() === 1, "PDO reads");';
        $survives($pdo);
        $survives("$pdo \$pdo = null;");
        $survives("$pdo \$pdo->exec('PRAGMA wal_checkpoint(TRUNCATE)'); \$pdo = null;");
        $survives("$pdo \$pdo->exec('UPDATE askr_jobs SET priority = 1'); \$pdo = null;");
    },

    'a script reads the raw files' => function () use ($survives) {
        foreach (['hash_file("md5", %s)', 'copy(%s, folder("copy"))', 'file_get_contents(%s)', 'fclose(fopen(%s, "r+"))'] as $read) {
            foreach (['$db', '"$db-wal"', '"$db-shm"'] as $file) {
                $survives(sprintf($read, $file) . ';');
            }
        }
    },

    'the files are removed or replaced beneath it' => function () use ($survives) {
        // The first job goes with the database; what is answered afterwards does not.
        $survives('rename($db, "$db.away");', 20);
        $survives('unlink($db);', 20);
        $survives('array_map("unlink", glob("$db*"));', 20);
        // Replaced by a copy, as a restore does it.
        $survives('$pdo = new PDO("sqlite:$db"); $pdo->exec("VACUUM INTO \'$db.copy\'"); rename("$db.copy", $db);');
    },

    'the log alone is removed beneath it' => function () use ($survives) {
        // The first job was in it. Until the next write puts things right, other programs see a broken log.
        $survives('unlink("$db-wal");', 20, false);
        $survives('rename("$db-wal", "$db-wal.away");', 20, false);
        $survives('(new PDO("sqlite:$db"))->exec("PRAGMA wal_checkpoint(TRUNCATE)"); unlink("$db-wal");', 21, false);
    },
];
