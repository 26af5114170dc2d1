<?php

declare(strict_types=1);

namespace Askr\Laravel\Tests;

use App\Jobs\Probe;
use Illuminate\Queue\Jobs\InspectedJob;

/**
 * What monitors see.
 */
final class InspectionTest extends LaravelTestCase
{
    public function testSizesAreDisjointAndALapsedReservationCountsAsPending(): void
    {
        $this->configure(['queue.connections.askr-short' => ['driver' => 'askr', 'retry_after' => 1]]);
        $this->queue()->push(new Probe('lapsed'));
        $this->assertNotNull($this->queue('askr-short')->pop());
        $this->queue()->push(new Probe('reserved'));
        $this->assertNotNull($this->queue()->pop());
        $this->queue()->push(new Probe('pending'));
        $this->queue()->later(60, new Probe('delayed'));

        $this->eventually(fn (): bool => $this->queue()->pendingSize() === 2, 'the reservation did not lapse');
        $this->assertSame(4, $this->queue()->size());
        $this->assertSame(1, $this->queue()->delayedSize());
        $this->assertSame(1, $this->queue()->reservedSize());
    }

    public function testTheOldestPendingJobsTimeIsInSeconds(): void
    {
        $this->assertNull($this->queue()->creationTimeOfOldestPendingJob());
        $this->queue()->later(60, new Probe('delayed'));
        $this->assertNull($this->queue()->creationTimeOfOldestPendingJob());

        $before = time();
        $this->queue()->push(new Probe('pending'));

        $oldest = $this->queue()->creationTimeOfOldestPendingJob();
        $this->assertGreaterThanOrEqual($before, $oldest);
        $this->assertLessThanOrEqual(time(), $oldest);
    }

    public function testTotalsCoverAllQueues(): void
    {
        $this->queue()->push(new Probe('a'), '', 'one');
        $this->queue()->push(new Probe('b'), '', 'two');
        $this->queue()->later(60, new Probe('c'), '', 'two');
        $this->queue()->pop('one');

        $queue = $this->queue();
        $this->assertSame(
            [3, 1, 1, 1],
            [$queue->totalSize(), $queue->totalPendingSize(), $queue->totalDelayedSize(), $queue->totalReservedSize()],
        );
    }

    public function testJobsCanBeLookedAtInEachState(): void
    {
        if (! class_exists(InspectedJob::class)) {
            $this->markTestSkipped('This Laravel has no inspected jobs.');
        }

        $this->queue()->push(new Probe('reserved'), '', 'one');
        $claimed = $this->queue()->pop('one');
        $this->queue()->push(new Probe('pending'), '', 'one');
        $this->queue()->later(60, new Probe('delayed'), '', 'two');
        $this->queue()->pushRaw("not JSON \xff", 'two');

        $this->assertSame([$claimed->uuid()], $this->queue()->reservedJobs('one')->pluck('uuid')->all());
        $this->assertSame([Probe::class], $this->queue()->pendingJobs('one')->pluck('name')->all());
        $this->assertSame([], $this->queue()->delayedJobs('one')->all());
        $this->assertSame([Probe::class], $this->queue()->delayedJobs('two')->pluck('name')->all());
        $this->assertSame([1], $this->queue()->allReservedJobs()->pluck('attempts')->all());
        $this->assertSame(['one', 'two'], $this->queue()->allPendingJobs()->pluck('queue')->all());
        $this->assertSame(['two'], $this->queue()->allDelayedJobs()->pluck('queue')->all());
        $this->assertNull($this->queue()->pendingJobs('two')->first()->name);
    }

    public function testLookingReservesNothing(): void
    {
        $this->queue()->push(new Probe('a'));
        $this->assertCount(1, askr_queue_list('default', 'pending'));
        $this->queue()->size();
        $this->queue()->creationTimeOfOldestPendingJob();

        $this->assertSame(1, $this->queue()->pop()->attempts());
    }

    public function testMonitorAndClear(): void
    {
        $this->queue()->bulk([new Probe('a'), new Probe('b')]);
        $this->queue()->push(new Probe('c'), '', 'other');

        $monitor = $this->artisan('queue:monitor', 'default', '--max=2');
        $this->assertMatchesRegularExpression('/\[askr\] default.*\[2\] ALERT/', $monitor);
        $this->assertStringContainsString('Cleared 2 jobs', $this->artisan('queue:clear', '--force'));
        $this->assertSame([0, 1], [$this->queue()->size(), $this->queue()->size('other')]);
    }
}
