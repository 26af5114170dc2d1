<?php

declare(strict_types=1);

namespace App\Console\Commands;

use App\Jobs\BatchedJob;
use App\Jobs\EncryptedJob;
use App\Jobs\Job;
use App\Jobs\UrgentJob;
use App\Record;
use Illuminate\Console\Command;
use Illuminate\Support\Facades\Artisan;
use Illuminate\Support\Facades\Bus;
use Illuminate\Support\Facades\Queue;
use RuntimeException;
use Symfony\Component\Process\Process;

/**
 * Sends jobs of every kind through real workers and checks that each had its end, once.
 */
final class Demo extends Command
{
    protected $signature = 'demo {--workers=4 : How many workers} {--seconds=300 : How long it may take at most}';

    protected $description = 'Dispatch 10,000 jobs to real workers, and account for each';

    /** How many jobs of each kind there are, and what must become of each. */
    private const KINDS = [
        'plain' => ['jobs' => 7000, 'end' => 'handled', 'retries' => 0],
        'delayed' => ['jobs' => 1000, 'end' => 'handled', 'retries' => 0],
        'prioritised' => ['jobs' => 1000, 'end' => 'handled', 'retries' => 0],
        'retried' => ['jobs' => 400, 'end' => 'handled', 'retries' => 2],
        'failing' => ['jobs' => 100, 'end' => 'died', 'retries' => 1],
        'batch' => ['jobs' => 300, 'end' => 'handled', 'retries' => 0],
        'chain' => ['jobs' => 100, 'end' => 'handled', 'retries' => 0],
        'encrypted' => ['jobs' => 100, 'end' => 'handled', 'retries' => 0],
    ];

    public function handle(): int
    {
        Artisan::call('migrate', ['--force' => true]);
        $total = array_sum(array_column(self::KINDS, 'jobs'));
        $this->info(sprintf(
            'Laravel %s, PHP %s, askr %s, %d workers, %s jobs, tier %s',
            $this->laravel->version(),
            PHP_VERSION,
            phpversion('askr'),
            $this->option('workers'),
            number_format($total),
            config('askr.queue_tier'),
        ));

        $started = microtime(true);
        $workers = array_map($this->startWorker(...), range(1, (int) $this->option('workers')));
        try {
            $this->dispatchAll();
            $this->line(sprintf('%5.1f s  all are dispatched', microtime(true) - $started));
            $this->waitForAll($workers, $total, $started);
        } finally {
            array_walk($workers, static fn (Process $worker) => $worker->stop(10));
        }

        return $this->account() ? self::SUCCESS : self::FAILURE;
    }

    private function startWorker(): Process
    {
        $command = [PHP_BINARY, base_path('artisan'), 'queue:work', '--quiet', '--sleep=0.1'];
        $worker = new Process($command, timeout: null);
        $worker->start();

        return $worker;
    }

    private function dispatchAll(): void
    {
        $make = static fn (string $kind, callable $job): array => array_map($job, range(1, self::KINDS[$kind]['jobs']));

        // One by one, as requests do; and many at once.
        $plain = $make('plain', static fn (int $i) => new Job('plain', $i));
        array_map(dispatch(...), array_slice($plain, 0, 1000));
        Queue::bulk(array_slice($plain, 1000));

        $make('retried', static fn (int $i) => dispatch(new Job('retried', $i, failures: 2, tries: 3)));
        $make('failing', static fn (int $i) => dispatch(new Job('failing', $i, failures: 2, tries: 2)));
        $make('prioritised', static fn (int $i) => dispatch(new UrgentJob('prioritised', $i)));
        Queue::bulk($make('delayed', static fn (int $i) => (new Job('delayed', $i))->delay(1 + $i % 10)));
        $make('encrypted', static fn (int $i) => dispatch(new EncryptedJob('encrypted', $i)));

        Bus::batch($make('batch', static fn (int $i) => new BatchedJob('batch', $i)))
            ->then(static fn () => Record::write('callback', 1, 'batch'))
            ->dispatch();

        foreach (array_chunk($make('chain', static fn (int $i) => new Job('chain', $i)), 10) as $chain) {
            Bus::chain($chain)->dispatch();
        }
    }

    /**
     * Shows the progress until the queue is empty; whether every job had its end is seen afterwards.
     *
     * @param list<Process> $workers
     */
    private function waitForAll(array $workers, int $total, float $started): void
    {
        do {
            sleep(1);
            $seconds = microtime(true) - $started;
            $ended = array_sum(array_map($this->ended(...), array_keys(self::KINDS)));
            $this->line(sprintf(
                '%5.1f s  %6s of %s have ended',
                $seconds,
                number_format($ended),
                number_format($total),
            ));

            foreach ($workers as $worker) {
                if (! $worker->isRunning()) {
                    throw new RuntimeException("A worker ended: {$worker->getOutput()}{$worker->getErrorOutput()}");
                }
            }
        } while (Queue::size() > 0 && $seconds < (int) $this->option('seconds'));
    }

    private function ended(string $kind): int
    {
        return count(array_filter(
            Record::events()[$kind] ?? [],
            static fn (array $events): bool => isset($events['handled']) || isset($events['died']),
        ));
    }

    /**
     * Shows what became of the jobs.
     *
     * @return bool whether it is what should have
     */
    private function account(): bool
    {
        $record = Record::events();
        $rows = [];
        $wrong = [];

        foreach (self::KINDS as $kind => ['jobs' => $jobs, 'end' => $end, 'retries' => $retries]) {
            $row = array_fill_keys(['dispatched', 'handled', 'retried', 'dead', 'duplicates', 'lost'], 0);
            $row['dispatched'] = $jobs;

            for ($number = 1; $number <= $jobs; $number++) {
                $events = [...['handled' => 0, 'died' => 0, 'threw' => 0], ...$record[$kind][$number] ?? []];
                $row['handled'] += min(1, $events['handled']);
                $row['dead'] += min(1, $events['died']);
                $row['retried'] += max(0, $events['threw'] - $events['died']);
                $row['duplicates'] += max(0, $events['handled'] + $events['died'] - 1);
                $row['lost'] += (int) ($events['handled'] + $events['died'] === 0);
            }

            $rows[$kind] = $row;
            if ($row[$end === 'died' ? 'dead' : 'handled'] !== $jobs || $row['retried'] !== $jobs * $retries) {
                $wrong[] = "not every job of the kind \"$kind\" ended as it should";
            }
        }

        foreach (['duplicates', 'lost'] as $column) {
            if (array_sum(array_column($rows, $column)) > 0) {
                $wrong[] = "the column \"$column\" is not 0";
            }
        }

        $dead = count($this->laravel->make('queue.failer')->ids());
        if ($dead !== array_sum(array_column($rows, 'dead'))) {
            $wrong[] = "the dead letters are $dead";
        }
        if (($record['callback'][1]['batch'] ?? 0) !== 1) {
            $wrong[] = 'the batch did not call back once';
        }
        if (Queue::size() !== 0) {
            $wrong[] = Queue::size() . ' jobs are still in the queue';
        }

        $this->show($rows);
        array_map(fn (string $problem) => $this->error("Wrong: $problem."), $wrong);
        if ($wrong === []) {
            $this->info("Every job had its one end. $dead dead letters wait for queue:retry.");
        }

        return $wrong === [];
    }

    /**
     * @param array<string, array<string, int>> $rows by kind
     */
    private function show(array $rows): void
    {
        $columns = array_keys(current($rows));
        $rows['total'] = array_combine(
            $columns,
            array_map(static fn (string $column): int => array_sum(array_column($rows, $column)), $columns),
        );
        $this->table(['kind', ...$columns], array_map(
            static fn (string $kind, array $row): array => [$kind, ...array_map(number_format(...), $row)],
            array_keys($rows),
            $rows,
        ));
    }
}
