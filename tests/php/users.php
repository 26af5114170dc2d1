<?php

/* Files of other users. */

declare(strict_types=1);

const NOBODY = 65534;

/** What a push answers as user nobody: nothing, or the exception's class and message. */
function push_as_nobody(): string
{
    need_root();
    $code = 'posix_setgid(65534); posix_setuid(65534);
        try { askr_queue_push("q", "x"); } catch (Askr\Exception $e) { echo $e::class, ": ", $e->getMessage(); }';
    // The folder of this checkout may be out of nobody's reach; the harness is not needed.
    $process = new Process([...php_command(), '-r', $code]);
    same(0, $process->wait(), $process->output());

    return $process->output();
}

/** The exception says all of this. */
function refused(array $texts, string $said): void
{
    foreach (['Askr\UnavailableException', db(), ...$texts] as $text) {
        holds(str_contains($said, $text), "\"$text\" is in: $said");
    }
}

return [
    'a database that root makes in another user\'s folder is that user\'s' => function () {
        need_root();
        chown(folder(), NOBODY);
        chgrp(folder(), NOBODY);
        $old = umask(0077);
        askr_queue_push('q', 'x');
        umask($old);
        foreach (['', '-wal', '-shm'] as $suffix) {
            same([NOBODY, NOBODY], [fileowner(db() . $suffix), filegroup(db() . $suffix)], "owner of queue.db$suffix");
        }
        same('', push_as_nobody(), 'nobody pushes');
        askr_queue_push('q', 'root again');
        same('', push_as_nobody(), 'nobody pushes');
        same(4, askr_queue_size('q'), 'jobs');
    },

    'the other way round: the user first, then root' => function () {
        need_root();
        chown(folder(), NOBODY);
        same('', push_as_nobody(), 'nobody pushes');
        askr_queue_push('q', 'x');
        same('', push_as_nobody(), 'nobody pushes');
        same(3, askr_queue_size('q'), 'jobs');
    },

    'a file that is root\'s stays root\'s' => function () {
        need_root();
        askr_queue_push('q', 'x');
        chown(folder(), NOBODY);
        answer('askr_queue_push("q", "x");');
        same(0, fileowner(db()), 'owner');
    },

    'a file that may not be read' => function () {
        need_root();
        answer('askr_queue_push("q", "x");');
        chmod(db(), 0600);
        refused(["PHP's user must be able to"], push_as_nobody());
    },

    'a file that may be read and not written' => function () {
        need_root();
        answer('askr_queue_push("q", "x");');
        chmod(db(), 0444);
        refused(['write'], push_as_nobody());
        chmod(db(), 0644);
        same(1, askr_queue_size('q'), 'jobs');
    },

    'a folder that may not be written' => function () {
        need_root();
        refused([], push_as_nobody());
        answer('askr_queue_push("q", "x");');
        chmod(db(), 0666);
        refused(['folder'], push_as_nobody());
    },

    'a folder that may not be entered' => function () {
        need_root();
        answer('askr_queue_push("q", "x");');
        chmod(folder(), 0700);
        refused(['user that PHP runs as'], push_as_nobody());
        chmod(folder(), 0755);
    },
];
