<?php

declare(strict_types=1);

namespace App;

use Closure;
use Illuminate\Support\Facades\Cache;

/**
 * What the handlers did, in their own words: one line each, appended, independent of any queue.
 */
final class Record
{
    public static function write(string $line): void
    {
        file_put_contents(self::path(), sprintf("%.3f %s\n", microtime(true), $line), FILE_APPEND | LOCK_EX);
    }

    /**
     * A closure for a queue, which a worker can only load from the application.
     */
    public static function writer(string $line): Closure
    {
        return static fn () => self::write($line);
    }

    /**
     * A closure that releases a lock for its owner and records whether it was still the owner's.
     */
    public static function releaser(string $lock, string $owner): Closure
    {
        return static fn () => self::write(Cache::restoreLock($lock, $owner)->release() ? 'released' : 'not released');
    }

    /**
     * @return list<string> the lines so far, without their times
     */
    public static function lines(): array
    {
        return array_map(static fn (string $line): string => explode(' ', $line, 2)[1], self::read());
    }

    /**
     * @return list<float> when the line was written, each time it was
     */
    public static function times(string $line): array
    {
        $lines = array_filter(self::read(), static fn (string $read): bool => explode(' ', $read, 2)[1] === $line);

        return array_values(array_map('floatval', $lines));
    }

    /**
     * @return list<string>
     */
    private static function read(): array
    {
        return is_file(self::path()) ? file(self::path(), FILE_IGNORE_NEW_LINES) : [];
    }

    private static function path(): string
    {
        return storage_path('record');
    }
}
