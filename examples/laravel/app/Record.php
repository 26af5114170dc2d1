<?php

declare(strict_types=1);

namespace App;

/**
 * What the handlers did, written by themselves: one appended line each, "KIND NUMBER EVENT". The demo's
 * table is made from it, and so does not take the queue's word for anything.
 */
final class Record
{
    public static function write(string $kind, int $number, string $event): void
    {
        file_put_contents(self::path(), "$kind $number $event\n", FILE_APPEND | LOCK_EX);
    }

    /**
     * @return array<string, array<int, array<string, int>>> how often each event was, by kind and number
     */
    public static function events(): array
    {
        $events = [];
        foreach (is_file(self::path()) ? file(self::path(), FILE_IGNORE_NEW_LINES) : [] as $line) {
            [$kind, $number, $event] = explode(' ', $line);
            $events[$kind][(int) $number][$event] = ($events[$kind][(int) $number][$event] ?? 0) + 1;
        }

        return $events;
    }

    private static function path(): string
    {
        return storage_path('app/record');
    }
}
